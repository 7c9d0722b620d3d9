import type { TestNamespace, TestNetwork } from '@kube-ovn/testing-net'
import { statement, type Chain, type NftMap, type SetElement, type Table } from './index.ts'

/** Gives pods the router's address, except towards pods. */
export function masquerading(pods: readonly SetElement[]): Table {
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
export const everything: Table = {
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
export function threeNamespaces(network: TestNetwork): {
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
export function portOf(at: number, backends: readonly string[]): TestPort {
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

export function tableOf(ports: readonly TestPort[], pods: readonly string[] = []): Table {
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
