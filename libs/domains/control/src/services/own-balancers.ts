import { groupTable } from '@kube-ovn/tables'
import type { ControlWorld } from '../world.ts'
import type { Wanted } from './scopes.ts'
import { serviceVpcs } from './service-vpcs.ts'

/** A load balancer that Services of a VPC need beside those that are always there. */
interface OwnBalancer extends Wanted {
  readonly vpc: string
}

/** Under which all are found that have a trait. */
const anyOf = ''

/** Whether the backends of some Service differ from node to node. */
export function differsByNode(world: Pick<ControlWorld, 'table'>): boolean {
  return world.table(ownBalancers).some('byNode', anyOf)
}

/**
 * Load balancers for what OVN has once for all entries of one: a time-out of affinity other than the usual one, and, for backends that differ
 * from node to node, the family.
 */
export const ownBalancers = groupTable({
  name: 'own-balancers',
  of: serviceVpcs,
  by: 'balancer',
  rows: (_services, _views, value) => [[value, JSON.parse(value) as OwnBalancer] as const],
  indexes: {
    vpc: ({ vpc }: OwnBalancer) => [vpc],
    byNode: ({ nodes }: OwnBalancer) => (nodes === undefined ? [] : [anyOf]),
  },
})
