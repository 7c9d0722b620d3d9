import { vpcResource } from '@kube-ovn/kube-api'
import { logicalRouter, vpcRoute } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { comesOrGoes, kept } from '@kube-ovn/domains-control/topology'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { desiredRoutes } from './desired.ts'
import type { RoutesSnapshot } from './desired.ts'
import { observeRoutes } from './snapshot.ts'

/** Keeps the static routes of each VPC's router. */
export const vpcRoutes: ControlFeature<string, RoutesSnapshot | typeof kept> = {
  name: 'vpc-route',
  kinds: [vpcRoute],
  memberships: [{ kind: logicalRouter.name, column: 'static_routes' }],
  triggers: [{ on: 'object', resource: vpcResource, keys: comesOrGoes }],
  initialKeys: ({ settings }) => [settings.clusterRouter],
  mayOwn: (vpc, { id }) => id.startsWith(`${vpc}/`),
  observe: observeRoutes,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === kept ? { ...nothing, hold: true } : desiredRoutes(snapshot)
  },
}
