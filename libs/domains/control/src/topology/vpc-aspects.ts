import { familyOf, type Ip } from '@kube-ovn/ip'
import { rowTable } from '@kube-ovn/tables'
import type { ExternalConnection } from './external-connections.ts'
import type { BfdPort, BfdSession, PlannedRoute } from './supervision.ts'
import { vpcPlans, type VpcPlan } from './vpc-plans.ts'
import type { VpcPeering, VpcPolicy } from './vpc-spec.ts'
import { vpcClaims } from './vpc-tenancy.ts'

/** The router of a Vpc. */
export interface Router {
  /** It is somebody else's, and only told of here. */
  readonly isExternal: boolean
  readonly isDeleting: boolean
}

/** Routers of Vpcs. */
export const routers = rowTable({
  name: 'routers',
  of: vpcClaims,
  row: ({ isExternal, isDeleting }): Router => ({ isExternal, isDeleting }),
})

/** Policies that users give routers. */
export const routerPolicies = rowTable({
  name: 'router-policies',
  of: vpcClaims,
  row: ({ policies }): readonly VpcPolicy[] | undefined => some(policies),
})

/** IPv6 next hops of policies that users give routers, each once. */
export const routerPolicyHops = rowTable({
  name: 'router-policy-hops',
  of: vpcClaims,
  row: ({ policyHops }): readonly Ip[] | undefined =>
    some(policyHops.map(({ nextHop }) => nextHop).filter((hop) => familyOf(hop) === 6)),
})

/** Routes that users give routers, and what BFD adds to them. */
export const routerRoutes = rowTable({
  name: 'router-routes',
  of: vpcPlans,
  row: ({ routes }): readonly PlannedRoute[] | undefined => some(routes),
})

/** Connections of routers to those of other VPCs. */
export const routerPeerings = rowTable({
  name: 'router-peerings',
  of: vpcPlans,
  row: ({ peerings }): readonly VpcPeering[] | undefined => some(peerings),
})

/** Connections of routers to external subnets. */
export const routerExternals = rowTable({
  name: 'router-externals',
  of: vpcPlans,
  row: ({ externals }): readonly ExternalConnection[] | undefined => some(externals),
  indexes: { eip: (externals: VpcPlan['externals']) => externals.map(({ eip }) => eip) },
})

/** Whom routers ask by BFD whether they live, and from where. */
export interface Supervision {
  readonly sessions: readonly BfdSession[]
  readonly port: BfdPort | undefined
}

export const routerSupervisions = rowTable({
  name: 'router-bfd',
  of: vpcPlans,
  row: ({ sessions, bfdPort }): Supervision | undefined =>
    sessions.length === 0 && bfdPort === undefined ? undefined : { sessions, port: bfdPort },
})

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}
