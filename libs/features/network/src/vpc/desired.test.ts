import { expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredVpc } from './desired.ts'

const ids = { vendor: 'kube-ovn' }

it('is a router, and a set of overlay prefixes for each family, even an empty one', () => {
  const desired = desiredVpc({
    name: 'ovn-cluster',
    object: { metadata: { name: 'ovn-cluster', finalizers: ['example.com/theirs'] } },
    ignored: [],
    now: 0,
    observed: { observedGeneration: 2 },
    defaultSubnet: 'ovn-default',
    subnets: ['join', 'ovn-default'],
    overlayCidrs: [
      { family: 4, cidr: '100.64.0.0/16' },
      { family: 4, cidr: '10.16.0.0/16' },
    ],
  })
  const overlay = { isU2OOverlayCIDRs: 'true', vpc: 'ovn-cluster' }
  expect(shownRows(desired)).toEqual([
    {
      row: 'lr/ovn-cluster',
      name: 'ovn-cluster',
      options: {
        mac_binding_age_threshold: '300',
        dynamic_neigh_routers: 'true',
        always_learn_from_arp_request: 'false',
      },
      external_ids: ids,
    },
    {
      row: 'as-overlay/ovn-cluster/4',
      name: 'ovn.cluster.u2o_overlay_cidrs.ip4',
      addresses: ['100.64.0.0/16', '10.16.0.0/16'],
      external_ids: { ...ids, ...overlay },
    },
    {
      row: 'as-overlay/ovn-cluster/6',
      name: 'ovn.cluster.u2o_overlay_cidrs.ip6',
      addresses: [],
      external_ids: { ...ids, ...overlay },
    },
  ])
  expect(shownMembers(desired)).toEqual([])
  expect(shownPatches(desired)).toEqual([
    {
      object: 'vpcs/ovn-cluster',
      metadata: { finalizers: ['example.com/theirs', 'kubeovn.io/kube-ovn-controller'] },
    },
    {
      object: 'vpcs/ovn-cluster/status',
      status: {
        observedGeneration: 2,
        standby: true,
        default: true,
        defaultLogicalSwitch: 'ovn-default',
        router: 'ovn-cluster',
        subnets: ['join', 'ovn-default'],
        enableExternal: false,
        enableBfd: false,
      },
    },
  ])
})
