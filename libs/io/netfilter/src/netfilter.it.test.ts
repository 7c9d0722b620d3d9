import {
  missingForNamespaces,
  openTestNetwork,
  type TestNamespace,
  type TestNetwork,
} from '@kube-ovn/testing-net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  NftCommandError,
  NftNotFoundError,
  openNetfilter,
  statement,
  type Chain,
  type NftMap,
  type SetElement,
  type Table,
  type TableEvent,
} from './index.ts'
import { countWrites } from './testing/count-writes.ts'

const missing = missingForNamespaces('nft', 'ping')

/** Gives pods the router's address, except towards pods. */
function masquerading(pods: readonly SetElement[]): Table {
  const isPod = (field: 'saddr' | 'daddr', op: '==' | '!=') =>
    statement.payload({ protocol: 'ip', field }, statement.named('pods'), op)
  return {
    family: 'inet',
    name: 'kube-ovn',
    sets: [{ name: 'pods', type: 'ipv4_addr', flags: ['interval'], autoMerge: true, elements: pods }],
    chains: [
      {
        name: 'postrouting',
        base: { type: 'nat', hook: 'postrouting', priority: 95 },
        rules: [
          {
            statements: [
              isPod('saddr', '=='),
              isPod('daddr', '!='),
              statement.counter,
              statement.masquerade('fully-random'),
            ],
            comment: 'natOutgoing',
          },
        ],
      },
    ],
  }
}

/** One rule of every kind that this library can build. */
const everything: Table = {
  family: 'inet',
  name: 'everything',
  sets: [
    {
      name: 'v6',
      type: 'ipv6_addr',
      flags: ['interval'],
      elements: [{ prefix: { addr: 'fd00::', len: 64 } }],
    },
    { name: 'pairs', type: ['ipv4_addr', 'inet_service'], elements: [{ concat: ['10.0.0.1', 80] }] },
    { name: 'hosts', type: 'ipv4_addr', elements: ['10.0.0.9', '10.0.0.1', '10.0.0.5'] },
    { name: 'empty', type: 'ipv4_addr', flags: ['interval'], elements: [] },
  ],
  maps: [
    {
      name: 'services',
      type: ['ipv4_addr', 'inet_proto', 'inet_service'],
      comment: 'where they are',
      elements: [
        [{ concat: ['10.96.0.1', 'tcp', 443] }, { goto: { target: 'any' } }],
        [{ concat: ['10.96.0.1', 'udp', 53] }, { goto: { target: 'own' } }],
        [{ concat: ['10.96.0.2', 'tcp', 80] }, { drop: null }],
      ],
    },
  ],
  chains: [
    {
      name: 'in',
      base: { type: 'filter', hook: 'input', priority: 0, policy: 'accept' },
      comment: 'where packets come in',
      rules: [
        { statements: [statement.inputInterface('ovn0'), statement.mark(0x10, 0x10), statement.accept] },
        {
          statements: [
            statement.connectionState('established', 'related'),
            statement.counter,
            statement.leave,
          ],
        },
        { statements: [statement.connectionState('new'), statement.jump('more')] },
        { statements: [statement.tcpFlags(['syn', 'ack'], ['syn']), statement.addMark(0x4000)] },
        { statements: [statement.tcpFlags(['rst'], ['rst']), statement.setMark(0x1)] },
      ],
    },
    {
      name: 'more',
      rules: [
        { statements: [statement.payload({ protocol: 'ip6', field: 'daddr' }, '@v6'), statement.drop] },
        {
          statements: [
            {
              match: {
                op: '==',
                left: {
                  concat: [
                    { payload: { protocol: 'ip', field: 'daddr' } },
                    { payload: { protocol: 'tcp', field: 'dport' } },
                  ],
                },
                right: '@pairs',
              },
            },
            statement.accept,
          ],
        },
        {
          statements: [
            statement.payload({ protocol: 'udp', field: 'dport' }, statement.oneOf(4789, 6081)),
            statement.goto('last'),
          ],
        },
      ],
    },
    {
      name: 'to-services',
      base: { type: 'nat', hook: 'prerouting', priority: -100 },
      rules: [
        {
          statements: [
            {
              vmap: {
                key: {
                  concat: [
                    { payload: { protocol: 'ip', field: 'daddr' } },
                    { meta: { key: 'l4proto' } },
                    { payload: { protocol: 'th', field: 'dport' } },
                  ],
                },
                data: '@services',
              },
            },
          ],
        },
      ],
    },
    {
      name: 'any',
      rules: [
        {
          statements: [
            { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'tcp' } },
            {
              dnat: {
                family: 'ip',
                addr: {
                  map: {
                    key: { numgen: { mode: 'random', mod: 2, offset: 0 } },
                    data: {
                      set: [
                        [0, { concat: ['10.0.0.1', 80] }],
                        [1, { concat: ['10.0.0.2', 8080] }],
                      ],
                    },
                  },
                },
              },
            },
          ],
        },
      ],
    },
    {
      name: 'own',
      rules: [
        {
          statements: [
            { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'udp' } },
            {
              dnat: {
                family: 'ip',
                addr: {
                  map: {
                    key: {
                      jhash: { mod: 256, seed: 7, expr: { payload: { protocol: 'ip', field: 'saddr' } } },
                    },
                    data: {
                      set: [
                        [{ range: [0, 99] }, { concat: ['10.0.0.1', 80] }],
                        [{ range: [100, 255] }, { concat: ['10.0.0.2', 8080] }],
                      ],
                    },
                  },
                },
              },
            },
          ],
        },
      ],
    },
    {
      name: 'last',
      rules: [{ statements: [statement.outputInterface('eth0'), statement.drop], comment: 'no' }],
    },
    {
      name: 'out',
      base: { type: 'nat', hook: 'postrouting', priority: 100 },
      rules: [
        {
          statements: [statement.mark(5), statement.sourceNat('ip', '192.0.2.1', 'fully-random')],
        },
        { statements: [statement.sourceNat('ip6', '2001:db8::1')] },
        { statements: [statement.masquerade()] },
      ],
    },
  ],
}

/** A pod, a router in between, and a host outside that knows no way back to the pod. */
function threeNamespaces(network: TestNetwork): {
  pod: TestNamespace
  router: TestNamespace
  host: TestNamespace
} {
  const pod = network.namespace('pod')
  const router = network.namespace('router')
  const host = network.namespace('host')
  network.connect(
    { namespace: pod, name: 'eth0', addresses: ['10.16.0.5/16'] },
    { namespace: router, name: 'pods', addresses: ['10.16.0.1/16'] },
  )
  network.connect(
    { namespace: router, name: 'eth0', addresses: ['192.0.2.1/24'] },
    { namespace: host, name: 'eth0', addresses: ['192.0.2.2/24'] },
  )
  pod.run('ip', 'route', 'add', 'default', 'via', '10.16.0.1')
  router.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')
  return { pod, router, host }
}

interface TestPort {
  readonly chain: Chain
  readonly entry: NftMap['elements'][number]
}

/** A port of a Service, with a chain that leads to one of its backends. */
function portOf(at: number, backends: readonly string[]): TestPort {
  const key = { numgen: { mode: 'random', mod: backends.length, offset: 0 } } as const
  const set = backends.map((ip, index) => [index, { concat: [ip, 8080] }] as const)
  return {
    entry: [{ concat: [`10.96.0.${at}`, 'tcp', 80] }, { goto: { target: `port-${at}` } }],
    chain: {
      name: `port-${at}`,
      rules: [
        {
          statements: [
            { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'tcp' } },
            { dnat: { family: 'ip', addr: { map: { key, data: { set } } } } },
          ],
        },
      ],
    },
  }
}

function tableOf(ports: readonly TestPort[], pods: readonly string[] = []): Table {
  const elements = pods.map((text): SetElement => {
    const [addr = '', len] = text.split('/')
    return len === undefined ? addr : { prefix: { addr, len: Number(len) } }
  })
  const key = {
    concat: [
      { payload: { protocol: 'ip', field: 'daddr' } },
      { meta: { key: 'l4proto' } },
      { payload: { protocol: 'th', field: 'dport' } },
    ],
  } as const
  return {
    family: 'inet',
    name: 'ports',
    sets: [{ name: 'pods', type: 'ipv4_addr', flags: ['interval'], autoMerge: true, elements }],
    maps: [
      {
        name: 'by-address',
        type: ['ipv4_addr', 'inet_proto', 'inet_service'],
        elements: ports.map(({ entry }) => entry),
      },
    ],
    chains: [
      {
        name: 'prerouting',
        base: { type: 'nat', hook: 'prerouting', priority: -100 },
        rules: [{ statements: [{ vmap: { key, data: '@by-address' } }] }],
      },
      ...ports.map(({ chain }) => chain),
    ],
  }
}

describe.skipIf(missing)(`netfilter${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('masquerades: a host without a way back to the pod answers', async () => {
    using network = openTestNetwork()
    const { pod, router } = threeNamespaces(network)
    const netfilter = openNetfilter({ netns: router.path })
    expect(() => pod.run('ping', '-c1', '-W1', '192.0.2.2')).toThrow(/0 received/)

    await netfilter.applyTable(masquerading([{ prefix: { addr: '10.16.0.0', len: 16 } }, '10.16.0.5']))
    expect(pod.run('ping', '-c1', '-W2', '192.0.2.2')).toContain('1 received')
    expect(router.run('nft', 'list', 'table', 'inet', 'kube-ovn')).toMatch(/counter packets 1 /)
  })

  it('writes a table once, also when another process asks again after traffic', async () => {
    using network = openTestNetwork()
    const { pod, router } = threeNamespaces(network)
    const table = masquerading([{ prefix: { addr: '10.16.0.0', len: 16 } }])
    const events: TableEvent[] = []
    const netfilter = openNetfilter({ netns: router.path })
    using _watch = netfilter.watch((event) => events.push(event), { ref: true })
    expect(await netfilter.applyTable(table)).toBe('applied')
    pod.run('ping', '-c1', '-W2', '192.0.2.2')
    expect(await netfilter.applyTable(table)).toBe('unchanged')
    expect(await openNetfilter({ netns: router.path }).applyTable(table)).toBe('unchanged')
    expect(await netfilter.hasDrifted(table)).toBe(false)
    expect(events).toEqual([{ kind: 'changed', table: { family: 'inet', name: 'kube-ovn' } }])
  })

  it('knows every expression again that it wrote', async () => {
    using network = openTestNetwork()
    const netfilter = openNetfilter({ netns: network.namespace('one').path })
    expect(await netfilter.applyTable(everything)).toBe('applied')
    expect(await netfilter.applyTable(everything)).toBe('unchanged')
  })

  it('hands frames of a link over to another one, and notices when a link has gone', async () => {
    using network = openTestNetwork()
    const one = network.namespace('one')
    for (const name of ['left', 'right']) one.run('ip', 'link', 'add', name, 'type', 'bridge')
    const table: Table = {
      ...{ family: 'netdev', name: 'kube-ovn-frames', sets: [] },
      chains: [
        {
          name: 'frames',
          base: { type: 'filter', hook: 'ingress', priority: 0, link: 'left' },
          rules: [
            { statements: [statement.setDestinationMac('02:00:00:00:00:01'), statement.forwardBy('right')] },
          ],
        },
      ],
    }
    const netfilter = openNetfilter({ netns: one.path })
    expect([await netfilter.applyTable(table), await netfilter.applyTable(table)]).toEqual([
      'applied',
      'unchanged',
    ])
    expect(await netfilter.listTables()).toEqual([{ family: 'netdev', name: 'kube-ovn-frames' }])
    one.run('ip', 'link', 'del', 'right')
    expect(await netfilter.hasDrifted(table)).toBe(true)
    await expect(netfilter.applyTable(table)).rejects.toThrow(NftCommandError)
    await netfilter.removeTable(table)
    expect(await netfilter.listTables()).toEqual([])
  })

  it.each([
    'add element inet kube-ovn pods { 10.99.0.0/16 }',
    'delete element inet kube-ovn pods { 10.16.0.0/16 }',
    'add rule inet kube-ovn postrouting accept',
    'insert rule inet kube-ovn postrouting accept',
    'flush chain inet kube-ovn postrouting',
    'add chain inet kube-ovn other',
    'add set inet kube-ovn other { type ipv4_addr; }',
    'delete table inet kube-ovn',
    'flush ruleset',
  ])('notices and heals: nft %s', async (vandalism) => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    const table = masquerading([{ prefix: { addr: '10.16.0.0', len: 16 } }])
    await netfilter.applyTable(table)
    const wanted = await netfilter.readTable(table)

    const { promise, resolve } = Promise.withResolvers<TableEvent>()
    using _watch = netfilter.watch(resolve, { ref: true })
    space.run('nft', vandalism)
    expect(await promise).toEqual({ kind: 'changed', table: { family: 'inet', name: 'kube-ovn' } })
    expect(await netfilter.hasDrifted(table)).toBe(true)
    expect(await netfilter.applyTable(table)).toBe('applied')
    expect(await netfilter.readTable(table)).toEqual(wanted)
  })

  it('leaves other tables alone, byte for byte', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    space.run(
      'nft',
      'table ip kube-ovn { set s { type ipv4_addr; elements = { 10.0.0.1 }; }; chain c { accept; }; }',
    )
    space.run('nft', 'table inet kube-proxy { chain c { type filter hook input priority 0; drop; }; }')
    const listForeign = (): string =>
      space.run('nft', '-a', 'list', 'table', 'ip', 'kube-ovn') +
      space.run('nft', '-a', 'list', 'table', 'inet', 'kube-proxy')
    const before = listForeign()
    const netfilter = openNetfilter({ netns: space.path })
    const table = masquerading(['10.16.0.5'])
    await netfilter.applyTable(table)
    await netfilter.applyTable(masquerading(['10.16.0.6']))
    expect(listForeign()).toBe(before)
    await netfilter.removeTable(table)
    await netfilter.removeTable(table)
    expect(await netfilter.readTable(table)).toBeUndefined()
    expect(listForeign()).toBe(before)
  })

  it('does nothing at all when one rule of a table is wrong', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    const good = masquerading(['10.16.0.5'])
    await netfilter.applyTable(good)
    const before = space.run('nft', '-a', 'list', 'ruleset')
    const bad: Table = {
      ...good,
      chains: [...good.chains, { name: 'lost', rules: [{ statements: [statement.jump('nowhere')] }] }],
    }
    const refused = netfilter.applyTable(bad)
    await expect(refused).rejects.toThrow(NftCommandError)
    await expect(refused).rejects.toMatchObject({ details: { operation: 'try inet kube-ovn', status: 1 } })
    await expect(refused).rejects.toHaveProperty(
      'details.nftMessage',
      expect.stringContaining('No such file or directory'),
    )
    expect(space.run('nft', '-a', 'list', 'ruleset')).toBe(before)
    expect(await netfilter.applyTable(good)).toBe('unchanged')
  })

  it('replaces in one transaction: one event, whatever the size', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    const many = Array.from({ length: 2000 }, (_, at): SetElement => `10.${at >> 8}.${at & 255}.1`)
    await netfilter.applyTable(masquerading(many))
    const events: TableEvent[] = []
    using _watch = netfilter.watch((event) => events.push(event), { ref: true })
    expect(await netfilter.applyTable(masquerading(many.slice(1)))).toBe('applied')
    await expect.poll(() => events.length).toBeGreaterThan(0)
    expect(events).toEqual([{ kind: 'changed', table: { family: 'inet', name: 'kube-ovn' } }])
  })

  it('writes of a large table only what differs, while it is told of changes', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    using _watch = netfilter.watch(() => undefined)
    const ports = Array.from({ length: 200 }, (_, at) => portOf(at, ['10.16.0.1', '10.16.0.2']))
    await netfilter.applyTable(tableOf(ports))
    using written = countWrites(space)
    expect(await netfilter.applyTable(tableOf(ports))).toBe('unchanged')
    expect(written.take()).toEqual({})
    const more = ports.with(7, portOf(7, ['10.16.0.1', '10.16.0.2', '10.16.0.3']))
    expect(await netfilter.applyTable(tableOf(more))).toBe('applied')
    // A rule and its own set come in the place of others.
    expect(written.take()).toEqual({ 'rule deleted': 1, 'set deleted': 1, set: 1, element: 3, rule: 1 })
    expect(await netfilter.applyTable(tableOf(more.toSpliced(3, 1)))).toBe('applied')
    const gone = { 'element deleted': 1, 'rule deleted': 1, 'set deleted': 1, 'chain deleted': 1 }
    expect(written.take()).toEqual(gone)
    expect(await openNetfilter({ netns: space.path }).hasDrifted(tableOf(more.toSpliced(3, 1)))).toBe(false)
  })

  it.each([
    'delete element inet ports by-address { 10.96.0.7 . tcp . 80 : goto port-7 }',
    'add rule inet ports port-7 accept',
    'add chain inet ports other',
    'delete table inet ports',
  ])('looks again at what somebody else has come between: nft %s', async (vandalism) => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    using _watch = netfilter.watch(() => undefined)
    const table = tableOf([portOf(7, ['10.16.0.1']), portOf(8, ['10.16.0.1'])])
    await netfilter.applyTable(table)
    space.run('nft', vandalism)
    expect(await netfilter.hasDrifted(table)).toBe(true)
    const next = tableOf([portOf(8, ['10.16.0.2'])])
    expect(await netfilter.applyTable(next)).toBe('applied')
    expect(await openNetfilter({ netns: space.path }).hasDrifted(next)).toBe(false)
  })

  it('comes to every table from every other one', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    using _watch = netfilter.watch(() => undefined)
    const backends = fc.uniqueArray(fc.constantFrom('10.16.0.1', '10.16.0.2', '10.16.0.3'), { minLength: 1 })
    const port = fc.tuple(fc.nat(3), backends).map(([at, ips]) => portOf(at, ips))
    const pods = fc.uniqueArray(fc.constantFrom('10.0.0.0/8', '10.16.0.0/16', '10.17.0.0/16', '10.16.0.5'))
    const tables = fc
      .tuple(fc.uniqueArray(port, { selector: ({ chain }) => chain.name }), pods)
      .map(([ports, prefixes]) => tableOf(ports, prefixes))
    await netfilter.applyTable(tableOf([]))
    using written = countWrites(space)
    await fc.assert(
      fc.asyncProperty(tables, async (table) => {
        await netfilter.applyTable(table)
        expect(written.take()).not.toHaveProperty('table')
        expect(await openNetfilter({ netns: space.path }).hasDrifted(table)).toBe(false)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  it('says when nft is not installed', async () => {
    using network = openTestNetwork()
    const netfilter = openNetfilter({ netns: network.namespace('one').path, nft: '/nowhere/nft' })
    await expect(netfilter.readTable({ family: 'inet', name: 'x' })).rejects.toThrow(NftNotFoundError)
  })
})
