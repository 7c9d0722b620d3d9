import { describe, expect, it } from 'vitest'
import { Network, stacks, type Layout } from '../testing/network.ts'

describe.each(stacks)('Pools in $name', (stack) => {
  const network = (layout: Layout = {}) => new Network(stack, layout)

  it('keeps the addresses of pools for those who name the pool', () => {
    const net = network()
    net.pool('p', ['#2..#4'])
    expect([net.ask('a'), net.ask('b', { pool: 'p' })]).toEqual(['#5', '#2'])
    expect([net.ranges('p'), net.ranges('')]).toEqual([
      ['#3-#4', '#2'],
      ['#6-#14', '#5'],
    ])
    net.ipam.removePool('s', 'p')
    expect(net.ranges('')).toEqual(['#3-#4,#6-#14', '#2,#5'])
    net.ipam.removePool('s', 'p')
    expect(net.want('c', '#4')).toBe('#4')
  })

  it('knows what is in use when a pool is made over it, and after the subnet has changed', () => {
    const net = network()
    net.ask('a')
    net.pool('p', ['#2..#5'])
    expect(net.ranges('p')).toEqual(['#3-#5', '#2'])
    net.change({ excluded: ['#14'] })
    expect(net.ranges('p')).toEqual(['#3-#5', '#2'])
  })

  it('does not offer what was released and is excluded by now', () => {
    const net = network()
    net.pool('p', ['#2..#6'])
    expect(net.ask('a', { pool: 'p' })).toBe('#2')
    net.change({ excluded: ['#2', '#3..#5'] })
    net.free('a')
    expect([net.ask('b', { pool: 'p' }), net.ask('c', { pool: 'p' })]).toEqual(['#6', 'NoAvailableAddress'])
  })

  it('keeps a static address of a pool to be had after an unrelated change', () => {
    const net = network()
    net.pool('p', ['#5'])
    net.change({ excluded: ['#9'] })
    expect(net.want('a', '#5')).toBe('#5')
  })

  it('refuses a pool that overlaps with another, and has no such pool then', () => {
    const net = network()
    net.pool('p', ['#2..#5'])
    expect(net.pool('q', ['#5..#9'])).toContain('has addresses of another IPPool')
    expect(net.ipam.hasPool('s', 'q')).toBe(false)
  })

  it.each(['nonsense', '#9..#6', '#6..'])('refuses %s, and has no such pool then', (text) => {
    const net = network()
    expect(net.pool('p', ['#2', text])).toContain('invalid IP')
    expect([net.ipam.hasPool('s', 'p'), net.ask('a')]).toEqual([false, '#2'])
  })

  it('counts nothing in pools and subnets that are not there', () => {
    const { ipam } = network()
    const nothing = { v4: undefined, v6: undefined }
    expect([ipam.poolStatistics('s', 'p'), ipam.poolStatistics('t', ''), ipam.statistics('t')]).toEqual([
      nothing,
      nothing,
      nothing,
    ])
  })

  it('draws a released address no more when it is excluded, but others after it', () => {
    const net = network()
    net.pool('p', ['#2..#6'])
    for (const nic of ['a', 'b', 'c', 'd']) net.ask(nic, { pool: 'p' })
    net.free('a')
    net.change({ excluded: ['#2'] })
    net.pool('p', ['#2..#6'])
    expect([net.ask('e', { pool: 'p' }), net.ask('f', { pool: 'p' })]).toEqual(['#6', 'NoAvailableAddress'])
    expect(net.want('f', '#2')).toBe('#2')
  })
})
