export type { Advertising } from './advertising.ts'
export { unusable } from './aspect.ts'
export { accept, acceptances, nothingInEffect, type Acceptance } from './acceptance.ts'
export { isReachedByNodes, keptRouterMacs, type Attachment, type Prefixes } from './attachments.ts'
export { builtInProviderNetwork, builtInSpec, builtInVlan } from './built-in.ts'
export { dhcpIdOf, type DhcpAnswer } from './dhcp.ts'
export { answerOf, dhcpIds, presentAnswer, rowIdOf } from './dhcp-answers.ts'
export type { DhcpOptions } from './dhcp-options.ts'
export { egressFlags } from './egress-flags.ts'
export {
  SubnetConflictError,
  SubnetInvalidError,
  SubnetUnsupportedError,
  subnetProblemText,
  VpcInvalidError,
  type SubnetError,
} from './errors.ts'
export { strayExcludes } from './exclude-ips.ts'
export {
  isByPods,
  isOccupied,
  pairFlags,
  pairOf,
  pairTables,
  pairsWith,
  placedPairs,
} from './occupied-pairs.ts'
export {
  gatewayCandidates,
  gatewayStates,
  type GatewayProblem,
  type GatewayState,
  type PublishedEgress,
} from './gateway-states.ts'
export { joinAddress, leasedAddress } from './join-address.ts'
export { inEffectOf, isPublished } from './in-effect.ts'
export type { Interconnection } from './interconnections.ts'
export type { Interconnect } from './interconnects.ts'
export type { Contradiction } from './contradictions.ts'
export type { Isolation } from './isolation.ts'
export {
  isEnding,
  namespacesElsewhere,
  namespacesOfPool,
  poolsOfNamespace,
  subnetsOfNamespace,
} from './namespace-bindings.ts'
export type { Layout } from './layouts.ts'
export type { NatRule } from './nat-rules.ts'
export { cidrsOf, familiesOf, isSameNetwork, type Network, type NetworkFamily } from './network.ts'
export { allNodeAddresses, hasOtherAddresses, internalAddresses } from './node-addresses.ts'
export { nodeChassis, type NodeChassis } from './node-chassis.ts'
export { hasOtherNetwork } from './node-change.ts'
export { decidedPools } from './pool-claims.ts'
export type { Querier } from './queriers.ts'
export { routeTables } from './route-tables.ts'
export { serviceCidrTable, serviceCidrWatch, servicePrefixes } from './service-prefixes.ts'
export { silentGateways } from './silent-gateways.ts'
export { silentNodes, speakers } from './speakers.ts'
export { subnetBegins, subnetSays, vpcSays } from './subnet-begins.ts'
export { resolveSubnet, type NormalisedSpec } from './subnet-spec.ts'
export type { ConnectedNode } from './connected-nodes.ts'
export { localnets } from './localnets.ts'
export { tagOf, type VlanState, type VlanTag } from './vlan-states.ts'
export { vpcsOfEip } from './eip-owner.ts'
export type { ExternalConnection } from './external-connections.ts'
export { comesOrGoes, kept, partOfVpc } from './part-of-vpc.ts'
export type { Router, Supervision } from './vpc-aspects.ts'
export { emptyPlan, vpcProblemsText, type VpcPlan } from './vpc-plans.ts'
export { routeKey, type VpcPeering, type VpcPolicy, type VpcProblem, type VpcRoute } from './vpc-spec.ts'
export { sessionKey, type BfdPort, type BfdSession, type PlannedRoute } from './supervision.ts'
export { isDefaultVpc } from './vpc-tenancy.ts'
