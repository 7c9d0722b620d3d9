import { parseIpList, type Family } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { halves, Network, stacks, type Layout } from '../testing/network.ts'

describe.each(stacks)('Allocation in $name', (stack) => {
  const network = (layout: Layout = {}) => new Network(stack, layout)

  it('draws the lowest that is neither excluded nor skipped', () => {
    const net = network({ excluded: ['#2', '#4'] })
    const skip = new Set(net.ips('#3'))
    expect([net.ask('a', { skip }), net.ask('b')]).toEqual(['#5', '#3'])
  })

  it('gives different addresses to two NICs of one pod, and names both by the pod', () => {
    const net = network()
    expect([net.ask('a.eth0'), net.ask('a.net1')]).toEqual(['#2', '#3'])
    expect(net.ipam.leasesOf('pod/ns/a').map((lease) => net.said(lease))).toEqual(
      expect.arrayContaining(['#2', '#3']),
    )
  })

  it('returns the static address to a NIC that asks again without it', () => {
    const net = network()
    expect([net.want('a', '#9'), net.ask('a')]).toEqual(['#9', '#9'])
  })

  it('comes back to a released address only after all others', () => {
    const net = network({ hostBits: 3, excluded: ['#4..#6'] })
    const turns = Array.from({ length: 4 }, () => {
      const address = net.ask('a')
      net.free('a')
      return address
    })
    expect(turns).toEqual(['#2', '#3', '#2', '#3'])
  })

  it('gives the next addresses, not the old ones, to pods that are restarted together', () => {
    const net = network({ hostBits: 8 })
    const names = ['a', 'b', 'c', 'd', 'e']
    expect(names.map((name) => net.ask(name))).toEqual(['#2', '#3', '#4', '#5', '#6'])
    for (const name of names) net.free(name)
    expect(net.ranges()).toEqual(['#2-#254', ''])
    for (const name of names) net.ask(`new-${name}`)
    expect(net.ranges()).toEqual(['#2-#6,#12-#254', '#7-#11'])
  })

  it('refuses what is held, the gateway and what lies outside, and leaves the lease as it was', () => {
    const net = network()
    net.ask('a')
    net.ask('b')
    const before = net.ipam.lease('b')
    expect(net.want('b', '#2')).toBe('AddressConflict')
    expect(net.want('b', '#1')).toBe('AddressConflict')
    for (const address of ['#0', '#15', '#200']) expect(net.want('b', address)).toBe('AddressOutOfRange')
    expect([net.ipam.lease('b'), net.holders('#3'), net.holders('#2')]).toEqual([
      before,
      ['pod/ns/b'],
      ['pod/ns/a'],
    ])
  })

  it('exchanges a static address and makes the old one available again', () => {
    const net = network()
    const mac = net.ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' }).mac
    expect([net.want('a', '#9'), net.want('a', '#9'), net.ipam.lease('a')?.mac]).toEqual(['#9', '#9', mac])
    expect([net.holders('#2'), net.ranges()]).toEqual([[], ['#2-#8,#10-#14', '#9']])
    expect(net.want('b', '#2')).toBe('#2')
  })

  it('works in a point-to-point subnet', () => {
    const net = network({ hostBits: 1 })
    expect([net.ask('a'), net.ask('b')]).toEqual(['#0', 'NoAvailableAddress'])
    net.free('a')
    expect(net.want('b', '#0')).toBe('#0')
    expect(network({ hostBits: 1, gateway: '#0' }).ask('a')).toBe('#1')
  })

  it('shares an address, and keeps it until both have released it', () => {
    const net = network()
    net.want('a', '#9')
    expect(net.want('b', '#9', { shareOnConflict: true })).toBe('#9')
    net.free('a')
    expect([net.holders('#9'), net.want('c', '#9')]).toEqual([['pod/ns/b'], 'AddressConflict'])
    expect(net.ranges()).toEqual(['#2-#8,#10-#14', '#9'])
    net.free('b')
    expect(net.want('c', '#9')).toBe('#9')
  })

  it('gives excluded addresses to those who ask for them, and does not draw them afterwards', () => {
    const net = network({ hostBits: 3, excluded: ['#2'] })
    expect(net.want('a', '#2')).toBe('#2')
    expect(net.ranges()).toEqual(['#3-#6', ''])
    net.free('a')
    expect(['b', 'c', 'd', 'e', 'f'].map((name) => net.ask(name))).toEqual([
      '#3',
      '#4',
      '#5',
      '#6',
      'NoAvailableAddress',
    ])
  })

  it('gives the MAC address that is asked for, and others that differ', () => {
    const net = network()
    const mac = '00:00:5e:00:53:01'
    net.ask('a', { mac })
    const macs = ['b', 'c'].map((nic) => {
      net.ask(nic)
      return net.ipam.lease(nic)?.mac
    })
    expect(net.ipam.lease('a')?.mac).toBe(mac)
    expect(new Set([mac, ...macs]).size).toBe(3)
  })

  it('says who holds an address, and what it is', () => {
    const net = network()
    net.ask('a')
    expect([net.holders('#2'), net.holders('#3'), net.holders('#2', 'unknown')]).toEqual([
      ['pod/ns/a'],
      [],
      [],
    ])
    const states = ['#2', '#3', '#1', '@2'].map((address) =>
      net.ips(address).map((ip) => net.ipam.stateOf('s', ip)),
    )
    expect(states.map((of) => new Set(of))).toEqual([
      new Set(['held']),
      new Set(['free']),
      new Set(['gateway']),
      new Set(['outside']),
    ])
  })

  it('refuses a family that it does not have, gives nothing then and takes nothing', () => {
    const net = network()
    net.ask('b')
    const before = net.ipam.lease('b')
    for (const { family, other } of halves) {
      const { v4, v6 } = new Network({ families: [other] }).addresses('#9')
      for (const nic of ['a', 'b']) {
        expect(net.ask(nic, { family, static: { v4, v6 } })).toBe('InvalidIPFamily')
        if (!stack.families.includes(family)) expect(net.ask(nic, { family })).toBe('InvalidIPFamily')
      }
    }
    expect([net.has('a'), net.ipam.lease('b'), net.ranges()]).toEqual(['', before, ['#3-#14', '#2']])
  })
})

describe.each(halves)('Allocation of IPv$family in a subnet of both', ({ family, other }) => {
  const both = () => new Network({ families: [4, 6] })
  const one = (net: Network, address: string) => net.addresses(address, [family])
  const held = (net: Network, address: string, of: Family) =>
    net.ips(address, [of]).flatMap((ip) => net.ipam.holders('s', ip))

  it('takes it alone when it is asked for', () => {
    const net = both()
    expect([net.ask('a', { family }), net.ask('a', { family })]).toEqual(['#2', '#2'])
    expect([held(net, '#2', family), held(net, '#2', other)]).toEqual([['pod/ns/a'], []])
  })

  it('draws the other one beside a static address', () => {
    const net = both()
    net.ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a', static: one(net, '#9') })
    expect([held(net, '#9', family), held(net, '#2', other)]).toEqual([['pod/ns/a'], ['pod/ns/a']])
  })

  it('takes neither address of a pair when somebody has one', () => {
    const net = both()
    net.ask('a', { family, static: one(net, '#9') })
    expect(net.want('b', '#9')).toBe('AddressConflict')
    expect([net.has('b'), held(net, '#9', other)]).toEqual(['', []])
  })

  it('replaces only that address; the other stays until nothing else is left', () => {
    const net = new Network({ families: [4, 6] }, { hostBits: 3 })
    net.ask('a')
    const mac = net.ipam.lease('a')?.mac
    net.ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a', static: one(net, '#5') })
    expect([held(net, '#5', family), held(net, '#2', other)]).toEqual([['pod/ns/a'], ['pod/ns/a']])
    expect([held(net, '#2', family), net.ipam.lease('a')?.mac]).toEqual([[], mac])
    for (const of of [family, other]) {
      const drawn = ['b', 'c', 'd', 'e', 'f'].map((nic) => net.ask(`${nic}-${of}`, { family: of }))
      expect(drawn.at(-1)).toBe('NoAvailableAddress')
      expect(drawn).not.toContain(of === family ? '#5' : '#2')
    }
  })

  it.each([undefined, 'p'])('exchanges only that one when it is to be skipped, in pool %s', (pool) => {
    const net = both()
    net.pool('p', ['#8..#10'])
    net.ask('a', { pool })
    const before = net.ipam.lease('a')
    const skip = new Set(net.ips(pool === undefined ? '#2' : '#8', [family]))
    net.ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a', pool, skip })
    const changed = net.addresses(pool === undefined ? '#3' : '#9', [family])
    expect(net.ipam.lease('a')).toEqual({ ...before, ...changed })
  })
})

it.each(['10.0.0.1', '::ffff:10.0.0.1', 'fd00::1', 'FD00:0:0::0001'])(
  'Allocation knows the gateway when it is written as %s',
  (address) => {
    const net = new Network({ families: [4, 6] })
    const before = net.ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' })
    expect(net.ask('a', { static: parseIpList(address) })).toBe('AddressConflict')
    expect(net.ipam.lease('a')).toEqual(before)
  },
)
