import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import type { EndpointSlice } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { loadBalancer } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import {
  balancerFlags,
  servicesOf,
  serviceVpcs,
  serviceWatch,
  sliceWatch,
} from '@kube-ovn/domains-control/services'
import { desiredService } from './desired.ts'
import { observeService, type ServiceSnapshot } from './snapshot.ts'

/** Keeps the entries of each Service in the load balancers of its VPC. */
export const service: ControlFeature<string, ServiceSnapshot> = {
  name: 'service',
  kinds: [],
  flags: balancerFlags,
  watches: [serviceWatch, sliceWatch],
  tables: [serviceVpcs],
  rights: [{ resource: services, verbs: ['patch'] }],
  memberships: [{ kind: loadBalancer.name, column: 'vips' }],
  triggers: [
    { on: 'object', resource: services, keys: (change) => [change.key] },
    {
      on: 'object',
      resource: endpointSlices,
      keys: ({ old, new: current }: ObjectChange<EndpointSlice>) =>
        new Set([old, current].flatMap((slice) => (slice === undefined ? [] : servicesOf(slice)))),
    },
  ],
  observe: observeService,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredService(snapshot)),
}
