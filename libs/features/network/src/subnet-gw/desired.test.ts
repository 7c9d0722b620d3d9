import { describe, expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredGateway } from './desired.ts'

const group = {
  row: 'pg-subnet/blue-net/node-1',
  name: 'blue.net.node.1',
  external_ids: { vendor: 'kube-ovn', subnet: 'blue-net', node: 'node-1', np: 'blue-net/node-1' },
}

function policy(family: 4 | 6, nexthop: string) {
  return {
    row: `lrpol-gw/blue-net/node-1/${family}`,
    priority: 29000,
    match: `ip${family}.src == $blue.net.node.1_ip${family}`,
    action: 'reroute',
    nexthops: [nexthop],
    external_ids: { vendor: 'kube-ovn', subnet: 'blue-net', node: 'node-1' },
  }
}

describe('desiredGateway', () => {
  it.each([
    { name: 'is a group alone before the node has an address', nextHops: [], policies: [] },
    {
      name: 'leads pods of the node to it, each family by a policy of its own',
      nextHops: [
        { family: 4, address: '100.64.0.2' },
        { family: 6, address: 'fd00:100:64::2' },
      ] as const,
      policies: [policy(4, '100.64.0.2'), policy(6, 'fd00:100:64::2')],
    },
  ])('$name', ({ nextHops, policies }) => {
    const desired = desiredGateway({ subnet: 'blue-net', node: 'node-1', vpc: 'ovn-cluster', nextHops })
    expect(shownRows(desired)).toEqual([group, ...policies])
    expect(shownMembers(desired)).toEqual(policies.map(({ row }) => `lr/ovn-cluster policies: ${row}`))
  })
})
