import { describe, expect, it } from 'vitest'
import { Network, stacks, type Layout } from '../testing/network.ts'

describe.each(stacks)('Subnet construction in $name', (stack) => {
  const network = (layout: Layout = {}) => new Network(stack, layout)

  it('prints what is available without the ends, the gateway and the excluded', () => {
    expect(network({ excluded: ['#10', '#12..#20'] }).ranges()).toEqual(['#2-#9,#11', ''])
  })

  it('grows without taking anything from anybody', () => {
    const net = network()
    net.ask('a')
    expect(net.change({ hostBits: 8 }).lost).toEqual([])
    expect([net.ask('a'), net.ranges()]).toEqual(['#2', ['#3-#254', '#2']])
  })

  it('takes what lies outside from its holders when it shrinks', () => {
    const net = network({ hostBits: 8 })
    net.ask('a')
    net.want('b', '#200')
    expect(net.change({}).lost).toEqual(['b'])
    expect([net.ipam.lease('b'), net.ranges()]).toEqual([undefined, ['#3-#14', '#2']])
  })

  it('has nothing of a family that it does not have', () => {
    const { ipam } = network()
    const { v4, v6 } = ipam.statistics('s')
    expect([v4 !== undefined, v6 !== undefined]).toEqual(
      [4, 6].map((family) => stack.families.includes(family as 4)),
    )
    expect(ipam.families('s')).toEqual(stack.families.toSorted())
  })

  it('merges exclusions that overlap, clips them, and tells those that exclude nothing', () => {
    const net = network()
    const excluded = ['#0', '#2..#4', '#3..#9', '#14..#99', '@3', '@1..@9', 'nonsense', '#9..#2']
    expect(net.change({ excluded }).ignored).toEqual(['nonsense', '#9..#2', '@3', '@1..@9'])
    expect(net.ranges()).toEqual(['#10-#13', ''])
  })

  it('does not mind host bits', () => {
    expect(network({ block: '#7' }).ranges()).toEqual(network().ranges())
  })

  it('hands out the gateway when none is given, which a subnet of both families refuses', () => {
    const layout = { gateway: undefined }
    if (stack.families.length === 2) expect(network().refusal(layout)).toBe('CIDRInvalid')
    else expect(network(layout).ask('a')).toBe('#1')
  })

  it('hands out of the block that it has moved to, and stays there when the next one can not be', () => {
    const net = network()
    net.ask('a')
    expect(net.change({ block: '@0' }).lost).toEqual(['a'])
    expect(net.ask('b')).toBe('@2')
    expect(net.refusal({ gateway: '@1' })).toBe('CIDRInvalid')
    expect([net.ask('b'), net.ask('c')]).toEqual(['@2', '@3'])
  })

  it('does not draw what was released and is excluded since', () => {
    const net = network({ hostBits: 3 })
    net.ask('a')
    net.free('a')
    net.change({ hostBits: 3, excluded: ['#2'] })
    expect(['b', 'c', 'd', 'e', 'f'].map((nic) => net.ask(nic))).toEqual([
      '#3',
      '#4',
      '#5',
      '#6',
      'NoAvailableAddress',
    ])
  })

  it('forgets everything when it is removed', () => {
    const net = network()
    net.ask('a')
    for (let time = 0; time < 2; time++) net.ipam.removeSubnet('s')
    expect([net.has('a'), net.holders('#2'), net.ask('a')]).toEqual(['', [], 'NoSubnet'])
    expect([net.ipam.hasSubnet('s'), [...net.ipam.leases('s')], net.ranges()]).toEqual([false, [], []])
  })
})
