import { describe, expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredEgress, type EgressSnapshot } from './desired.ts'

const none: EgressSnapshot = { subnet: 'blue', vpc: 'ovn-cluster', families: [], status: undefined }

function family(version: 4 | 6, ...nodes: readonly string[]): EgressSnapshot['families'][number] {
  const join = version === 4 ? '100.64.0.' : 'fd00:100:64::'
  return {
    family: version,
    cidr: version === 4 ? '10.1.0.0/16' : 'fd00:1::/112',
    nextHops: nodes.map((node, index) => ({ node, address: `${join}${index + 2}` })),
  }
}

function policy(version: 4 | 6, nexthops: readonly string[], ids: Readonly<Record<string, string>>) {
  return {
    row: `lrpol-central/blue/${version}`,
    priority: 29000,
    match: version === 4 ? 'ip4.src == 10.1.0.0/16' : 'ip6.src == fd00:1::/112',
    action: 'reroute',
    nexthops,
    external_ids: { vendor: 'kube-ovn', subnet: 'blue', ...ids },
  }
}

describe('desiredEgress', () => {
  it('leads the prefix of each family to all of its gateway nodes', () => {
    const desired = desiredEgress({ ...none, families: [family(4, 'n1', 'n2'), family(6, 'n1')] })
    const rows = [
      policy(4, ['100.64.0.2', '100.64.0.3'], { n1: '100.64.0.2', n2: '100.64.0.3' }),
      policy(6, ['fd00:100:64::2'], { n1: 'fd00:100:64::2' }),
    ]
    expect(shownRows(desired)).toEqual(rows)
    expect(shownMembers(desired)).toEqual(rows.map(({ row }) => `lr/ovn-cluster policies: ${row}`))
    expect(shownPatches(desired)).toEqual([])
  })

  it('has no policy of a family without a next hop', () => {
    expect(shownRows(desiredEgress({ ...none, families: [family(4), family(6, 'n1')] }))).toHaveLength(1)
  })

  it('keeps its own marks whatever nodes are called', () => {
    const desired = desiredEgress({ ...none, families: [family(4, 'subnet', 'vendor', 'node')] })
    expect(shownRows(desired)).toEqual([policy(4, ['100.64.0.2', '100.64.0.3', '100.64.0.4'], {})])
  })

  it('says what nodes go by, and takes back what it said before', () => {
    const published = { gateways: [{ node: 'n1', addresses: [] }], active: ['n1'] }
    expect(shownPatches(desiredEgress({ ...none, status: { active: 'n1', published } }))).toEqual([
      {
        object: 'subnets/blue/status',
        status: {
          activateGateway: 'n1',
          egress: { ...published, nextHop: null, rulePriority: null, routeTable: null },
        },
      },
    ])
    expect(
      shownPatches(desiredEgress({ ...none, status: { active: undefined, published: undefined } })),
    ).toEqual([{ object: 'subnets/blue/status', status: { activateGateway: null, egress: null } }])
  })
})
