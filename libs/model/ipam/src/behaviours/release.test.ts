import { describe, expect, it } from 'vitest'
import { Network, stacks, type Layout } from '../testing/network.ts'

describe.each(stacks)('Release in $name', (stack) => {
  const network = (layout: Layout = {}) => new Network(stack, layout)

  it('releases by NIC and by owner, and nothing that is not there', () => {
    const net = network()
    net.ask('a.eth0')
    net.ask('a.net1')
    net.free('b')
    net.free('a.eth0')
    expect(net.ranges()).toEqual(['#2,#4-#14', '#3'])
    net.ipam.releaseOwner('pod/ns/a')
    expect(net.ranges()).toEqual(['#2-#14', ''])
  })

  it('releases nothing of a pod that has taken over from the one that is gone', () => {
    const net = network()
    net.ask('a', { uid: 'old' })
    net.ask('a', { uid: 'new' })
    expect(net.ipam.release('a', 'pod/ns/a', 'old')).toBeUndefined()
    expect(net.ipam.release('a', 'vip/ns/a')).toBeUndefined()
    expect(net.ipam.release('a', 'pod/ns/a', 'new')?.uid).toBe('new')
  })

  it('gives what was released to who asks for it, before it would be drawn again', () => {
    const net = network()
    net.ask('a')
    net.free('a')
    expect([net.want('b', '#2'), net.ask('c'), net.ranges('')]).toEqual(['#2', '#3', ['#4-#14', '#2-#3']])
  })
})
