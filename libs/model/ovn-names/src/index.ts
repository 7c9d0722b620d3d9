export { externalId, vendor } from './external-ids.ts'
export {
  defaultRoute,
  denyAllAcl,
  denyAllPortGroup,
  logicalRouter,
  logicalSwitch,
  nodeLocalDnsPolicy,
  nodePolicy,
  nodePort,
  nodePortGroup,
  overlayCidrs,
  podPort,
  subnetGatewayPolicy,
  subnetNodePortGroup,
  subnetPolicy,
  subnetRouterPort,
  switchRouterPort,
} from './kinds.ts'
export {
  denyAllSecurityGroup,
  nodePortGroupName,
  nodePortName,
  overlayCidrsAddressSetName,
  podPortName,
  portGroupAddressSetName,
  routerPortName,
  securityGroupPortGroupName,
  subnetNodePortGroupName,
  switchRouterPortName,
} from './names.ts'
export { aclPriority, aclTier, routerPolicyPriority } from './priorities.ts'
export type { MarkedTable, NorthboundTable, ParentRow, RowKind, RowRef } from './row-kind.ts'
