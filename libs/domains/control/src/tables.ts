import type { Logger } from '@kube-ovn/log'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { DerivedTables } from '@kube-ovn/reconcile'
import type { AnyTable, ViewOf } from '@kube-ovn/tables'
import type { Clock } from '@kube-ovn/time'
import type { Cache } from 'ovsdb-client'
import { foreignPorts } from './addresses/foreign-ports.ts'
import type { ControlSettings } from './settings.ts'
import {
  configMaps,
  dnsNameResolvers,
  egressFirewalls,
  machineInstances,
  machineMigrations,
  machines,
  networkAttachments,
  ovnEips,
  securityGroups,
  providerNetworks,
  routerLbRules,
  settingsTable,
  statefulSets,
  switchLbRules,
  vpcDnses,
  vpcs,
} from './sources.ts'
import { addressesOfNodes, nodeAddresses } from './topology/addresses-of-nodes.ts'
import {
  addressing,
  attachments,
  gatewayMacs,
  keptRouterMacs,
  prefixes,
  routerMacs,
  subnetProviders,
} from './topology/attachments.ts'
import { builtInSpec } from './topology/built-in.ts'
import { advertisings } from './topology/advertising.ts'
import { connectedNodes } from './topology/connected-nodes.ts'
import { dhcpFamilies, dhcpRows } from './topology/dhcp.ts'
import { dhcps } from './topology/dhcp-wishes.ts'
import { externalGateways } from './topology/external-connections.ts'
import { gatewayCandidates, gatewayStates } from './topology/gateway-states.ts'
import { interconnections } from './topology/interconnections.ts'
import { interconnects } from './topology/interconnects.ts'
import { layouts } from './topology/layouts.ts'
import { contradictions } from './topology/contradictions.ts'
import { isolations } from './topology/isolation.ts'
import { natRules } from './topology/nat-rules.ts'
import { adminNodePeers, adminPolicies } from './policies/admin-policies.ts'
import { firewallNodes } from './policies/egress-firewalls.ts'
import { enforcedPolicies } from './policies/network-policies.ts'
import {
  adminPolicyFamilies,
  namedPorts,
  podPolicies,
  policyFamilies,
  policyPeers,
} from './policies/pod-policies.ts'
import { readFirewalls } from './policies/read-firewalls.ts'
import { resolvedNames } from './policies/resolved-names.ts'
import { securityGroupPlaces } from './policies/security-groups.ts'
import { wantedNames } from './policies/wanted-names.ts'
import { ipPoolLives, subnetLives } from './topology/lives.ts'
import { livingNodes } from './topology/lost-node.ts'
import { nodeChassis } from './topology/node-chassis.ts'
import { namespaceBindings, servingSubnets } from './topology/namespace-bindings.ts'
import type { Stores } from './stores.ts'
import { pools, poolStates } from './topology/pool-claims.ts'
import { queriers } from './topology/queriers.ts'
import { builtInSubnets } from './topology/subnet-claims.ts'
import { networks, subnetStates } from './topology/subnet-states.ts'
import { routeTables } from './topology/route-tables.ts'
import { vlansInEffect, vlanStates } from './topology/vlan-states.ts'
import {
  routerExternals,
  routerPeerings,
  routerPolicies,
  routerPolicyHops,
  routerRoutes,
  routers,
  routerSupervisions,
} from './topology/vpc-aspects.ts'
import { vpcPlans } from './topology/vpc-plans.ts'
import { tenancies } from './topology/vpc-tenancy.ts'
import { watched } from './watched.ts'
import type { WatchedStores } from './watched-kinds.ts'

/** What is derived from objects and rows, and objects that are read as they are, by the names that they have in the world. */
const tables = {
  subnetStates,
  networks,
  layouts,
  attachments,
  prefixes,
  addressing,
  isolations,
  contradictions,
  advertisings,
  queriers,
  interconnects,
  interconnections,
  natRules,
  gatewayCandidates,
  gatewayStates,
  dhcps,
  dhcpRows,
  dhcpFamilies,
  subnetProviders,
  keptRouterMacs,
  routerMacs,
  gatewayMacs,
  routeTables,
  vlansInEffect,
  vlanStates,
  providerNetworks,
  connectedNodes,
  externalGateways,
  vpcs,
  tenancies,
  vpcPlans,
  routers,
  routerPolicies,
  routerPolicyHops,
  routerRoutes,
  routerPeerings,
  routerExternals,
  routerSupervisions,
  poolStates,
  pools,
  servingSubnets,
  namespaceBindings,
  subnetLives,
  ipPoolLives,
  livingNodes,
  nodeChassis,
  nodeAddresses,
  addressesOfNodes,
  foreignPorts,
  enforcedPolicies,
  podPolicies,
  policyFamilies,
  policyPeers,
  namedPorts,
  adminPolicies,
  adminPolicyFamilies,
  adminNodePeers,
  egressFirewalls,
  readFirewalls,
  firewallNodes,
  dnsNameResolvers,
  wantedNames,
  resolvedNames,
  securityGroupPlaces,
  securityGroups,
  ovnEips,
  switchLbRules,
  routerLbRules,
  vpcDnses,
  configMaps,
  statefulSets,
  networkAttachments,
  machines,
  machineInstances,
  machineMigrations,
} as const

export const controlTables: readonly AnyTable[] = Object.values(tables)

/** Derived tables as features read them: who reads a row in its `observe` is woken when it changes. */
export type TableViews = { readonly [N in keyof typeof tables]: ViewOf<(typeof tables)[N]> }

/** Resources whose objects are read as they are from stores: it takes triggers to be woken by them. */
export const plainKinds = (Object.keys(watched) as (keyof WatchedStores)[]).filter(
  (name): name is Exclude<keyof WatchedStores, keyof TableViews> => !(name in tables),
)

export function tableViews(view: <T extends AnyTable>(table: T) => ViewOf<T>): TableViews {
  const views = Object.entries(tables).map(([name, table]) => [name, view(table)])
  return Object.fromEntries(views) as TableViews
}

interface Sources {
  readonly settings: ControlSettings
  readonly stores: Stores
  /** Beside those of the domains. */
  readonly tables?: readonly AnyTable[]
  readonly northbound: Cache<OvnNorthbound>
  readonly logger: Logger
  readonly clock: Clock
}

/** Tables over complete stores and a complete cache. */
export function deriveTables({
  settings,
  stores,
  tables: further = [],
  northbound,
  logger,
  clock,
}: Sources): DerivedTables {
  const derived = new DerivedTables({
    tables: new Set([...controlTables, ...further]),
    store: (resource) => stores.find(resource),
    rows: northbound,
    logger,
    monotonic: () => clock.monotonic(),
  })
  derived.put(settingsTable, '', settings)
  for (const { name } of [settings.nodeSwitch, settings.defaultSubnet])
    derived.put(builtInSubnets, name, builtInSpec(name, settings))
  return derived
}
