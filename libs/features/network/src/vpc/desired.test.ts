import { expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import type { VpcStatus } from '@kube-ovn/kube-api'
import { desiredVpc, type VpcSnapshot } from './desired.ts'

const ids = { vendor: 'kube-ovn' }

it('is a router, and a set of overlay prefixes for each family, even an empty one', () => {
  const desired = desiredVpc({
    name: 'ovn-cluster',
    isDefault: true,
    isDeleting: false,
    hasOutsiders: false,
    peers: [],
    externals: [],
    hasBfd: false,
    bfdPort: undefined,
    namesExternals: false,
    problems: [],
    hasAddressSets: true,
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
        vpcPeerings: null,
        enableExternal: false,
        extraExternalSubnets: null,
        enableBfd: false,
      },
    },
  ])
})

const custom: VpcSnapshot = {
  name: 'red',
  object: { metadata: { name: 'red', uid: 'u1', finalizers: ['kubeovn.io/kube-ovn-controller'] } },
  ignored: [],
  now: 0,
  observed: { observedGeneration: 1 },
  isDefault: false,
  isDeleting: false,
  defaultSubnet: undefined,
  subnets: ['red1'],
  overlayCidrs: [{ family: 4, cidr: '10.30.0.0/16' }],
  hasOutsiders: false,
  peers: [],
  externals: [],
  hasBfd: false,
  bfdPort: undefined,
  namesExternals: false,
  problems: [],
  hasAddressSets: true,
}

function statusOf(vpc: VpcSnapshot): unknown {
  return shownPatches(desiredVpc(vpc)).find(({ object }) => object === 'vpcs/red/status')?.['status']
}

it('is not the default one, unless it is', () => {
  expect(statusOf(custom)).toMatchObject({ default: false, defaultLogicalSwitch: null, subnets: ['red1'] })
})

it('learns from others to whom it is connected', () => {
  const [router] = shownRows(desiredVpc({ ...custom, peers: ['blue'] }))
  expect(router).toMatchObject({ options: { always_learn_from_arp_request: undefined } })
  expect(statusOf({ ...custom, peers: ['blue'] })).toMatchObject({ vpcPeerings: ['blue'] })
})

it('leaves address sets to the VPC whose have the same names', () => {
  expect(shownRows(desiredVpc({ ...custom, hasAddressSets: false })).map(({ row }) => row)).toEqual([
    'lr/red',
  ])
})

it('stays until its last subnet is deleted, and says so', () => {
  const waiting = desiredVpc({ ...custom, isDeleting: true })
  expect(waiting.rows).toHaveLength(3)
  expect(shownPatches(waiting).map(({ object }) => object)).toEqual(['vpcs/red/status'])
  expect(waiting.events.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
    'VpcInUse the VPC has the subnets red1: delete these first',
  ])
  expect(statusOf({ ...custom, isDeleting: true })).toMatchObject({
    conditions: [{ type: 'Error', status: 'True', reason: 'VpcInUse' }],
  })
  const going = desiredVpc({ ...custom, isDeleting: true, subnets: [] })
  expect(going.rows).toEqual([])
  expect(shownPatches(going)).toEqual([{ object: 'vpcs/red', metadata: { finalizers: [] } }])
})

it('tells what of it can not be carried out, once, and as long as it is so', () => {
  const problems = [{ field: 'spec.namespaces', value: 'shop', cure: 'take it out' }]
  const told = desiredVpc({ ...custom, problems })
  expect(told.events.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
    'VpcInvalid spec.namespaces "shop": take it out',
  ])
  const { conditions } = statusOf({ ...custom, problems }) as Required<VpcStatus>
  expect(conditions).toMatchObject([{ type: 'Validated', status: 'False', reason: 'VpcInvalid' }])
  const object = { ...custom.object, metadata: { name: 'red', uid: 'u1' }, status: { conditions } }
  expect(desiredVpc({ ...custom, object, problems }).events).toEqual([])
  expect(statusOf({ ...custom, object })).toMatchObject({ conditions: [] })
})
