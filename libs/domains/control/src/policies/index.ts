export { aclRow } from './acl-row.ts'
export { isAboutNic, policyPlaces, portPlace, type PolicyPlaces } from './network-policies.ts'
export { formerSecurityGroups } from './former-security-groups.ts'
export { securityGroupsOf, type SecurityGroupsOfPort } from './security-groups.ts'
