export { announcedIn, announcementWatch, announcersOf } from './announcers.ts'
export { affinityOf } from './affinity.ts'
export { balancerColumns } from './balancer-columns.ts'
export { balancerFlags } from './balancer-flags.ts'
export { balancerName, balancerNames, balancersOf, type Balancer, type BalancerNames } from './balancers.ts'
export { AffinityTooLongError, FrontendTakenError, ServiceVpcError } from './errors.ts'
export { externalAddresses, type ExternalAddress } from './external-addresses.ts'
export { externalFor, externalPrefixes } from './external-prefixes.ts'
export {
  forwarderLabels,
  forwarderLabelsOf,
  forwarderName,
  forwarderVipName,
  isForwarded,
  isForwarderVip,
  serviceOfForwarder,
  serviceOfMade,
} from './forwarders.ts'
export { healthChecks, type HealthCheck } from './health-checks.ts'
export { filledBalancers, groupOf, groupsInUse, layoutOf } from './layout.ts'
export { lbRuleKinds, ruleOf, ruleOfName, ruleServiceName, type LbRuleKind } from './made-services.ts'
export { nodePlaces, type NodePlace } from './node-places.ts'
export { differsByNode, ownBalancers } from './own-balancers.ts'
export { serviceProblem } from './problems.ts'
export { nodePortFamilies, servesNodePorts, wantedForNodePort } from './node-ports.ts'
export { hasHints, scopedFrontends, wantedFor, type Frontend, type Scope, type Wanted } from './scopes.ts'
export { serviceVpcs, type ServiceVpc } from './service-vpcs.ts'
export { isTaken, takenFrontends, type TakenFrontend } from './taken-frontends.ts'
export { servicesOf, slicesOf, sliceWatch, type KeptSlice } from './slices.ts'
export { endpointsWatch, madeByRule, servicesByVip, serviceWatch } from './watches.ts'
