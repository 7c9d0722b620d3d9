import { serviceAnnotations } from '@kube-ovn/annotations'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { serviceL2StatusResource, vipResource } from '@kube-ovn/kube-api'
import {
  balancerGroup,
  balancerHealthCheck,
  chassisVariables,
  loadBalancer,
  logicalRouter,
  serviceBalancer,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { flagsOf, isNamedAfter, type ControlFeature } from '@kube-ovn/domains-control'
import {
  announcedIn,
  announcementWatch,
  balancerFlags,
  externalPrefixes,
  filledBalancers,
  healthChecks,
  nodePlaces,
  servicesOf,
  serviceVpcs,
  serviceWatch,
  sliceWatch,
  takenFrontends,
  type KeptSlice,
} from '@kube-ovn/domains-control/services'
import { desiredService } from './desired.ts'
import { observeService, type ServiceSnapshot } from './snapshot.ts'

/** Keeps the entries of each Service in the load balancers of its VPC. */
export const service: ControlFeature<string, ServiceSnapshot> = {
  name: 'service',
  kinds: [balancerHealthCheck, serviceBalancer],
  // A check is named after its load balancer, which may be one that all Services of a VPC have.
  mayOwn: (key, { kind, id }) => kind !== serviceBalancer.name || isNamedAfter(key, id),
  flags: balancerFlags,
  apartMs: ({ settings }) => flagsOf(balancerFlags, settings).loadBalancerMinSyncPeriod,
  watches: [serviceWatch, sliceWatch, announcementWatch],
  tables: [serviceVpcs, takenFrontends, healthChecks, nodePlaces, filledBalancers, externalPrefixes],
  rights: [
    {
      ...{ resource: services, verbs: ['patch'] },
      writes: [{ metadata: { name: 'web', annotations: { [serviceAnnotations.vpc.key]: 'red' } } }],
    },
  ],
  memberships: [
    ...[loadBalancer, serviceBalancer].flatMap(({ name: kind }) =>
      ['vips', 'health_check', 'ip_port_mappings'].map((column) => ({ kind, column })),
    ),
    { kind: balancerGroup.name, column: 'load_balancer' },
    { kind: logicalRouter.name, column: 'load_balancer' },
    { kind: chassisVariables.name, column: 'variables' },
  ],
  triggers: [
    { on: 'object', resource: services, keys: (change) => [change.key] },
    {
      on: 'object',
      resource: endpointSlices,
      keys: ({ old, new: current }: ObjectChange<KeptSlice>) =>
        new Set([old, current].flatMap((slice) => (slice === undefined ? [] : servicesOf(slice)))),
    },
    { on: 'object', resource: serviceL2StatusResource, keys: announcedIn },
    // It has the address from which backends are asked.
    {
      on: 'object',
      resource: vipResource,
      keys: ({ key }, world) => world.table(healthChecks).keys('subnet', key),
    },
  ],
  observe: observeService,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredService(snapshot)),
}
