export { desiredMeter } from './acl-meter.ts'
export { aclRow } from './acl-row.ts'
export { aclSamplingFlags, collectorName, withSampling } from './acl-sampling.ts'
export type { EnforcedAdminPolicy } from './admin-policies.ts'
export { contestedNames } from './contested-names.ts'
export {
  labelOfMade,
  resolvedDomains,
  resolverLabel,
  resolverName,
  type ResolverLabel,
} from './resolver-names.ts'
export { openConnectionFlags, stopsOpenConnections } from './open-connections.ts'
export { isAboutNic, isRestrictable, policyPlaces, type PolicyPlaces } from './pod-policies.ts'
export { portPlace } from './policy-selectors.ts'
export { formerSecurityGroups } from './former-security-groups.ts'
export { securityGroupsOf, type SecurityGroupsOfPort } from './security-groups.ts'
export { namesAt } from './resolved-names.ts'
export {
  networkPolicyKey,
  networkPolicyResources,
  objectOfNetworkPolicy,
  type EnforcedPolicy,
} from './network-policies.ts'
