import { describe, expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredDefaultRoutes } from './feature.ts'

const route = { policy: 'dst-ip', route_table: '', external_ids: { vendor: 'kube-ovn' } }
const v4 = { row: 'route-default/ovn-cluster/4', ip_prefix: '0.0.0.0/0', nexthop: '100.64.0.1', ...route }
const v6 = { row: 'route-default/ovn-cluster/6', ip_prefix: '::/0', nexthop: 'fd00:100:64::1', ...route }
const viaV4 = { family: 4, address: '100.64.0.1' } as const
const viaV6 = { family: 6, address: 'fd00:100:64::1' } as const

describe('desiredDefaultRoutes', () => {
  it.each([
    { name: 'leads IPv4 to the nodes', nextHops: [viaV4], want: [v4] },
    { name: 'leads IPv6 to the nodes', nextHops: [viaV6], want: [v6] },
    { name: 'leads both families to the nodes', nextHops: [viaV4, viaV6], want: [v4, v6] },
  ])('$name', ({ nextHops, want }) => {
    const desired = desiredDefaultRoutes({ router: 'ovn-cluster', nextHops })
    expect(shownRows(desired)).toEqual(want)
    expect(shownMembers(desired)).toEqual(want.map(({ row }) => `lr/ovn-cluster static_routes: ${row}`))
  })

  it('keeps what is there until the nodes have a network', () => {
    expect(desiredDefaultRoutes({ router: 'ovn-cluster', nextHops: undefined })).toMatchObject({
      hold: true,
      rows: [],
    })
  })
})
