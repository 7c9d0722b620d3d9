import { missingForNamespaces, openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { describe, expect, it } from 'vitest'
import { NetlinkError, openNetlink, routeProtocol, writeSysctl, type Netlink } from './index.ts'

const missing = missingForNamespaces()

/** A namespace with a veth pair in it, both ends up, 10.1.0.1/24 and fd00::1/64 on the first. */
function prepare(space: TestNamespace, netlink: Netlink): number {
  // Link-local addresses and their routes would come at some time after the links are up.
  writeSysctl(space.path, 'ipv6/conf/default/addr_gen_mode', 1)
  const { index } = netlink.createVeth({ name: 'eth0', up: true, peer: { name: 'eth1' } })
  netlink.changeLink(netlink.link('eth1')?.index ?? 0, { up: true })
  space.run('ip', 'address', 'add', '10.1.0.1/24', 'dev', 'eth0')
  space.run('ip', 'address', 'add', 'fd00::1/64', 'dev', 'eth0', 'nodad')
  return index
}

describe.skipIf(missing)(`addresses${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('are added, listed as ip(8) lists them, and removed', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const index = prepare(space, netlink)
    netlink.addAddress(index, '10.2.0.1/16', { broadcast: '10.2.255.255', noPrefixRoute: true })
    netlink.addAddress(index, '10.2.0.1/16')
    netlink.addAddress(index, 'fd01::1/128', { noDad: true })

    const [listed] = space.ip('address', 'show', 'dev', 'eth0') as {
      addr_info: { local: string; prefixlen: number; label?: string; broadcast?: string }[]
    }[]
    const ours = netlink.addresses(index)
    expect(ours.map(({ cidr }) => cidr)).toEqual(
      listed?.addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    )
    expect(ours.map(({ broadcast }) => broadcast)).toEqual(
      listed?.addr_info.map(({ broadcast }) => broadcast),
    )
    expect(ours.find(({ cidr }) => cidr === 'fd01::1/128')).toMatchObject({ isTentative: false })
    expect(
      netlink.routes({ index, family: 'ipv4', table: 254 }).map(({ destination }) => destination),
    ).toEqual(['10.1.0.0/24'])

    for (const cidr of ['10.2.0.1/16', 'fd01::1/128', '10.2.0.1/16']) netlink.removeAddress(index, cidr)
    expect(netlink.addresses(index).map(({ cidr }) => cidr)).not.toContain('10.2.0.1/16')
    expect(netlink.addresses(999)).toEqual([])
  })

  it('are tentative until duplicate detection is done', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const index = prepare(space, netlink)
    // It takes a second for each question.
    writeSysctl(space.path, 'ipv6/conf/eth0/dad_transmits', 100)
    netlink.addAddress(index, 'fd02::1/64')
    expect(netlink.addresses(index).find(({ cidr }) => cidr === 'fd02::1/64')?.isTentative).toBe(true)
  })
})

interface IpRoute {
  readonly dst: string
  readonly gateway?: string
  readonly dev?: string
  readonly metric?: number
}

describe.skipIf(missing)('routes', () => {
  it('are listed as ip(8) lists them', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    prepare(space, netlink)
    netlink.replaceRoute({ destination: '0.0.0.0/0', gateway: '10.1.0.254' })
    netlink.replaceRoute({ destination: '::/0', gateway: 'fd00::fe', metric: 77 })
    for (const family of ['ipv4', 'ipv6'] as const) {
      const flag = family === 'ipv4' ? '-4' : '-6'
      const listed = space.ip(flag, 'route', 'show', 'table', 'main') as IpRoute[]
      const names = new Map(netlink.links().map(({ index, name }) => [index, name]))
      const ours = netlink.routes({ family, table: 254 }).map((route): IpRoute => ({
        dst: route.destination.endsWith('/0') ? 'default' : route.destination,
        ...(route.gateway === undefined ? {} : { gateway: route.gateway }),
        ...(route.index === undefined ? {} : { dev: names.get(route.index) ?? '' }),
        ...(route.metric === 0 ? {} : { metric: route.metric }),
      }))
      expect(listed).toMatchObject(ours)
      expect(listed).toHaveLength(ours.length)
    }
  })

  it('are replaced by destination, metric and table, and removed exactly', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const index = prepare(space, netlink)
    const route = { destination: '10.9.0.0/16', gateway: '10.1.0.2', table: 1000, mtu: 1300, index }
    netlink.replaceRoute(route)
    netlink.replaceRoute({ ...route, gateway: '10.1.0.3' })
    netlink.replaceRoute({ ...route, metric: 50, protocol: routeProtocol.bgp })
    const table = netlink.routes({ table: 1000 })
    expect(table.map(({ gateway, metric }) => ({ gateway, metric }))).toEqual([
      { gateway: '10.1.0.3', metric: 0 },
      { gateway: '10.1.0.2', metric: 50 },
    ])

    // Not there: the gateway differs, or the protocol does. Nothing else may go instead.
    netlink.removeRoute(route)
    netlink.removeRoute({ ...route, metric: 50 })
    expect(netlink.routes({ table: 1000 })).toEqual(table)

    for (const listed of table) {
      netlink.removeRoute(listed)
      expect(netlink.routes({ table: 1000 })).not.toContainEqual(listed)
    }
    // The kernel would take metric 0 as "any metric".
    netlink.replaceRoute({ ...route, metric: 50 })
    netlink.removeRoute(route)
    expect(netlink.routes({ table: 1000 })).toHaveLength(1)
  })

  it.each(['ipv4', 'ipv6'] as const)(
    'go several ways, and come back as they were asked for: %s',
    (family) => {
      using network = openTestNetwork()
      const space = network.namespace('one')
      using netlink = openNetlink({ netns: space.path })
      const index = prepare(space, netlink)
      const [destination, one, two] =
        family === 'ipv4' ? ['10.9.0.0/16', '10.1.0.2', '10.1.0.3'] : ['fd09::/64', 'fd00::2', 'fd00::3']
      netlink.replaceRoute({
        destination,
        metric: 5,
        nextHops: [
          { gateway: one, weight: 3, index },
          { gateway: two, index },
        ],
      })
      const [listed] = netlink
        .routes({ family, table: 254 })
        .filter((route) => route.destination === destination)
      expect(listed?.nextHops).toEqual([
        { gateway: one, weight: 3, index },
        { gateway: two, weight: 1, index },
      ])
      if (listed !== undefined) netlink.removeRoute(listed)
      expect(netlink.routes({ family }).map((route) => route.destination)).not.toContain(destination)
    },
  )

  it('reach gateways that no prefix covers, if told so', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const index = prepare(space, netlink)
    const route = { destination: '10.8.0.0/24', gateway: '169.254.1.1' }
    expect(() => netlink.replaceRoute(route)).toThrow(NetlinkError)
    netlink.replaceRoute({ ...route, index, onlink: true, source: '10.1.0.1' })
    expect(netlink.routes().find(({ gateway }) => gateway === '169.254.1.1')).toMatchObject({
      onlink: true,
      source: '10.1.0.1',
    })
    netlink.replaceRoute({ destination: '10.7.0.0/24', type: 'blackhole' })
    expect(netlink.routes({ family: 'ipv4' }).find(({ type }) => type === 'blackhole')?.destination).toBe(
      '10.7.0.0/24',
    )
  })

  it('of a table that was never used are none', () => {
    using network = openTestNetwork()
    using netlink = openNetlink({ netns: network.namespace('one').path })
    expect(netlink.routes({ table: 4242 })).toEqual([])
  })
})

describe.skipIf(missing)('rules', () => {
  it.each([
    {
      family: 'ipv4',
      from: '10.1.0.0/24',
      to: '10.2.0.0/16',
      flag: '-4',
      source: '10.1.0.0',
      all: '0.0.0.0/0',
    },
    { family: 'ipv6', from: 'fd01::/64', to: 'fd02::/64', flag: '-6', source: 'fd01::', all: '::/0' },
  ] as const)('are added once, listed as ip(8) lists them, removed exactly: $family', (given) => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const { family, from, to, flag, source, all } = given
    const rule = { family, priority: 100, from, mark: 0x10, markMask: 0xf0, table: 1000 }
    netlink.addRule(rule)
    netlink.addRule(rule)
    netlink.addRule({ family, priority: 101, from: all, to, not: true, inputInterface: 'lo', table: 1001 })
    const listed = space.ip(flag, 'rule', 'show') as Record<string, unknown>[]
    expect(listed.filter(({ priority }) => priority === 100)).toEqual([
      expect.objectContaining({ src: source, table: '1000', fwmark: '0x10', fwmask: '0xf0' }),
    ])
    expect(netlink.rules(family).map(({ priority }) => priority)).toEqual(
      listed.map(({ priority }) => priority),
    )
    expect(netlink.rules().find(({ priority, family: of }) => priority === 101 && of === family)).toEqual({
      family,
      priority: 101,
      to,
      not: true,
      inputInterface: 'lo',
      action: 'lookup',
      table: 1001,
      protocol: 4,
    })

    // Only the source is named: the kernel alone would take the one with the mark.
    netlink.removeRule({ family, priority: 100, from, table: 1000 })
    expect(netlink.rules(family)).toContainEqual({ ...rule, action: 'lookup', protocol: 4 })
    netlink.removeRule(rule)
    netlink.removeRule(rule)
    netlink.removeRule({ family, priority: 101, to, not: true, inputInterface: 'lo', table: 1001 })
    expect(netlink.rules(family).some(({ priority }) => priority === 100 || priority === 101)).toBe(false)
  })
})

describe.skipIf(missing)('neighbours', () => {
  it('are kept for good, replaced and removed; proxies too', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    using netlink = openNetlink({ netns: space.path })
    const index = prepare(space, netlink)
    netlink.replaceNeighbour({ index, address: '10.1.0.9', mac: '02:00:00:00:00:01' })
    netlink.replaceNeighbour({ index, address: '10.1.0.9', mac: '02:00:00:00:00:02' })
    netlink.replaceNeighbour({ index, address: 'fd00::9', isProxy: true })
    expect(space.ip('neighbour', 'show', 'to', '10.1.0.9')).toMatchObject([
      { dst: '10.1.0.9', dev: 'eth0', lladdr: '02:00:00:00:00:02', state: ['PERMANENT'] },
    ])
    const wanted = [
      {
        family: 'ipv4',
        index,
        address: '10.1.0.9',
        mac: '02:00:00:00:00:02',
        state: 'permanent',
        isProxy: false,
      },
      { family: 'ipv6', index, address: 'fd00::9', state: 'none', isProxy: true },
    ]
    expect(netlink.neighbours(index)).toEqual(expect.arrayContaining(wanted))
    netlink.removeNeighbour(index, '10.1.0.9')
    netlink.removeNeighbour(index, '10.1.0.9')
    netlink.removeNeighbour(index, 'fd00::9', { isProxy: true })
    const left = netlink.neighbours(index).map(({ address }) => address)
    expect(left).not.toContain('10.1.0.9')
    expect(left).not.toContain('fd00::9')
  })

  it('are looked for, and found or not', async () => {
    using network = openTestNetwork()
    const [one, two] = [network.namespace('one'), network.namespace('two')]
    using netlink = openNetlink({ netns: one.path })
    using there = openNetlink({ netns: two.path })
    const { index } = netlink.createVeth({
      name: 'eth0',
      up: true,
      peer: { name: 'eth0', netns: two.path, mac: '02:00:00:00:00:02' },
    })
    const peer = there.link('eth0')?.index ?? 0
    there.changeLink(peer, { up: true })
    for (const [of, at, host] of [
      [netlink, index, 1],
      [there, peer, 2],
    ] as const)
      for (const cidr of [`10.1.0.${host}/24`, `fd00::${host}/64`]) of.addAddress(at, cidr, { noDad: true })

    const { promise, resolve } = Promise.withResolvers<void>()
    const wanted = new Map([
      ['10.1.0.2', 'reachable'],
      ['fd00::2', 'reachable'],
      ['10.1.0.3', 'failed'],
      ['fd00::3', 'failed'],
    ])
    using _watch = netlink.watch(
      { neighbours: true },
      (event) => {
        if (event.kind !== 'neighbour') return
        const { address, state, mac } = event.neighbour
        if (wanted.get(address) !== state) return
        if (state === 'reachable') expect(mac).toBe('02:00:00:00:00:02')
        wanted.delete(address)
        if (wanted.size === 0) resolve()
      },
      { ref: true },
    )
    for (const address of wanted.keys()) netlink.resolveNeighbour(index, address)
    await promise
    // Asked for again, what is known is left alone.
    netlink.resolveNeighbour(index, '10.1.0.2')
    expect(netlink.neighbours(index).find(({ address }) => address === '10.1.0.2')?.state).toBe('reachable')
  })
})
