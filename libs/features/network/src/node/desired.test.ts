import { NoAvailableAddressError } from '@kube-ovn/ipam'
import { describe, expect, it } from 'vitest'
import { lease, network } from '@kube-ovn/domains-control/testing/networks'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { nodes } from '@kube-ovn/kube-api/core'
import { desiredNode } from './desired.ts'
import type { NodeSnapshot } from './snapshot.ts'

const join = network('join', '100.64.0.0/16,fd00:100:64::/112')
const dual: NodeSnapshot = {
  saysGeneration: true,
  name: 'node-1',
  uid: 'u1',
  ipObject: undefined,
  join: { network: join, lease: lease('join', 'node-node-1', '100.64.0.2,fd00:100:64::2') },
  internalAddresses: [
    { family: 4, address: '172.18.0.11' },
    { family: 6, address: 'fd00:18::11' },
  ],
  nodeLocalDns: [],
  doubles: [],
  problem: undefined,
}
const group = {
  row: 'pg-node/node-1',
  name: 'node.node.1',
  external_ids: { vendor: 'kube-ovn', node: 'node-1', np: 'node/node-1' },
}

function port(addresses: string) {
  return {
    row: 'lsp-node/node-1',
    name: 'node-node-1',
    addresses: [addresses],
    external_ids: { vendor: 'kube-ovn', ls: 'join' },
  }
}

function toNode(family: 4 | 6, address: string, nexthop: string) {
  return {
    row: `lrpol-node/node-1/${family}`,
    priority: 30000,
    action: 'reroute',
    match: `ip${family}.dst == ${address}`,
    nexthops: [nexthop],
    external_ids: { vendor: 'kube-ovn', node: 'node-1', 'address-family': String(family) },
  }
}

function toDns(family: 4 | 6, address: string, nexthop: string) {
  return {
    row: `lrpol-dns/node-1/${address}`,
    priority: 30000,
    action: 'reroute',
    match: `ip${family}.src == $node.node.1_ip${family} && ip${family}.dst == ${address}`,
    nexthops: [nexthop],
    external_ids: {
      vendor: 'kube-ovn',
      node: 'node-1',
      'address-family': String(family),
      isLocalDnsCache: 'true',
    },
  }
}

const cases: readonly {
  readonly name: string
  readonly given: NodeSnapshot
  readonly want: readonly object[]
}[] = [
  {
    name: 'has a group, a port and a policy for each of its addresses',
    given: dual,
    want: [
      group,
      port('00:00:5e:00:53:01 100.64.0.2 fd00:100:64::2'),
      toNode(4, '172.18.0.11', '100.64.0.2'),
      toNode(6, 'fd00:18::11', 'fd00:100:64::2'),
    ],
  },
  {
    name: 'is not led to in a family in which it has no address of the join network',
    given: {
      ...dual,
      join: { network: network('join', '100.64.0.0/16'), lease: lease('join', 'n', '100.64.0.2') },
    },
    want: [group, port('00:00:5e:00:53:01 100.64.0.2'), toNode(4, '172.18.0.11', '100.64.0.2')],
  },
  {
    name: 'answers DNS for its own pods only',
    given: { ...dual, internalAddresses: [], nodeLocalDns: ['169.254.25.10', 'fd00:a::a'] },
    want: [
      group,
      port('00:00:5e:00:53:01 100.64.0.2 fd00:100:64::2'),
      toDns(4, '169.254.25.10', '100.64.0.2'),
      toDns(6, 'fd00:a::a', 'fd00:100:64::2'),
    ],
  },
]

describe('desiredNode', () => {
  it.each(cases)('$name', ({ given, want }) => {
    const desired = desiredNode(given)
    expect(shownRows(desired)).toEqual(want)
    const policies = shownRows(desired).flatMap(({ row }) => (String(row).startsWith('lrpol') ? [row] : []))
    expect(shownMembers(desired)).toEqual([
      'ls/join ports: lsp-node/node-1',
      ...policies.map((row) => `lr/ovn-cluster policies: ${String(row)}`),
    ])
  })

  it('is told its address, which is recorded', () => {
    const spec = {
      podName: 'node-1',
      namespace: '',
      nodeName: 'node-1',
      subnet: 'join',
      ipAddress: '100.64.0.2,fd00:100:64::2',
      v4IpAddress: '100.64.0.2',
      v6IpAddress: 'fd00:100:64::2',
      macAddress: '00:00:5e:00:53:01',
    }
    expect(shownPatches(desiredNode(dual))).toMatchObject([
      { object: 'ips/node-node-1', spec },
      {
        object: 'nodes/node-1',
        metadata: {
          annotations: {
            'ovn.kubernetes.io/allocated': 'true',
            'ovn.kubernetes.io/ip_address': '100.64.0.2,fd00:100:64::2',
            'ovn.kubernetes.io/mac_address': '00:00:5e:00:53:01',
            'ovn.kubernetes.io/cidr': '100.64.0.0/16,fd00:100:64::/112',
            'ovn.kubernetes.io/gateway': '100.64.0.1,fd00:100:64::1',
            'ovn.kubernetes.io/logical_switch': 'join',
            'ovn.kubernetes.io/port_name': 'node-node-1',
          },
        },
      },
    ])
  })

  it('keeps what it has, and says why, while it can have no address', () => {
    const problem = new NoAvailableAddressError({ subnet: 'join', family: 4, pool: '' })
    expect(desiredNode({ ...dual, join: undefined, problem })).toEqual({
      ...{ rows: [], members: [], patches: [] },
      ...{ hold: true, problem },
      events: [
        {
          regarding: { resource: nodes, name: dual.name, uid: dual.uid },
          ...{ type: 'Warning', reason: 'AcquireAddressFailed' },
          message: expect.stringContaining('subnet=join') as unknown,
        },
      ],
    })
  })

  it('leaves nothing but the removal of its record when it is gone', () => {
    const desired = desiredNode({ ...dual, uid: undefined, join: undefined })
    expect(shownRows(desired)).toEqual([])
    expect(shownPatches(desired)).toEqual([
      { object: 'ips/node-node-1', remove: true, metadata: { finalizers: null } },
    ])
  })
})

describe('a node whose own address lies in a subnet', () => {
  it.each([
    { name: 'nobody', holders: [], held: '' },
    {
      name: 'a pod',
      holders: ['pod/shop/web' as const],
      held: ' and is held by pod/shop/web, which keeps it',
    },
  ])('is told, with who has it: $name', ({ holders, held }) => {
    const doubles = [{ address: '10.1.0.9', subnet: 'blue', holders }]
    const { events } = desiredNode({ ...dual, doubles })
    expect(
      events.map(({ regarding, type, reason, message }) => [regarding.uid, type, reason, message]),
    ).toEqual([
      [
        'u1',
        'Warning',
        'NodeAddressConflictWithSubnet',
        `address 10.1.0.9 of node node-1 lies in subnet blue${held}: give the node another address, or the subnet another spec.cidrBlock`,
      ],
    ])
  })
})
