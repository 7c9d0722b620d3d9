import { describe, expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredServiceRoutes, type ServiceRoutesSnapshot } from './desired.ts'

type Prefix = ServiceRoutesSnapshot['prefixes'][number]

const prefix: Readonly<Record<4 | 6, Prefix>> = {
  4: { family: 4, cidr: '10.96.0.0/12', nextHop: '100.64.0.2' },
  6: { family: 6, cidr: 'fd00:10:96::/112', nextHop: 'fd00:100:64::2' },
}
const group = {
  row: 'pg-u2o/blue.net.node.1',
  name: 'blue.net.node.1',
  external_ids: { vendor: 'kube-ovn', lr: 'ovn-cluster', ls: 'blue-net', u2o: 'true' },
}

function policy({ family, cidr, nextHop }: Prefix) {
  return {
    row: `lrpol-u2o-lb/blue-net/node-1/${cidr}`,
    priority: 29400,
    match: `ip${family}.src == $blue.net.node.1_ip${family} && ip${family}.dst == ${cidr}`,
    action: 'reroute',
    nexthops: [nextHop],
    external_ids: {
      ...{ vendor: 'kube-ovn', subnet: 'blue-net', node: 'node-1' },
      ...{ isU2ORoutePolicy: 'true', isU2ONoLBRoutePolicy: 'true', svcCidr: cidr },
    },
  }
}

describe('desiredServiceRoutes', () => {
  it.each<[string, readonly Prefix[]]>([
    ['is a group alone before the node has an address', []],
    ['leads Services of IPv4 to the node', [prefix[4]]],
    ['leads Services of IPv6 to the node', [prefix[6]]],
    ['leads Services of both families to the node', [prefix[4], prefix[6]]],
    ['leads each of several prefixes', [prefix[4], { ...prefix[4], cidr: '10.112.0.0/12' }]],
  ])('%s', (_name, prefixes) => {
    const desired = desiredServiceRoutes({
      subnet: 'blue-net',
      node: 'node-1',
      vpc: 'ovn-cluster',
      prefixes,
    })
    const policies = prefixes.map(policy)
    expect(shownRows(desired)).toEqual([group, ...policies])
    expect(shownMembers(desired)).toEqual(policies.map(({ row }) => `lr/ovn-cluster policies: ${row}`))
  })
})
