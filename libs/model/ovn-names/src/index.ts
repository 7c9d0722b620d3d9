export { externalId, vendor } from './external-ids.ts'
export {
  defaultRoute,
  denyAllAcl,
  denyAllPortGroup,
  ipPoolAddresses,
  logicalRouter,
  logicalSwitch,
  nodeLocalDnsPolicy,
  nodePolicy,
  nodePort,
  nodePortGroup,
  northGatewayPolicy,
  overlayCidrs,
  podPort,
  subnetGatewayPolicy,
  subnetNodePortGroup,
  subnetPolicy,
  subnetRouterPort,
  subnetVipPort,
  switchRouterPort,
  vipPort,
  vipVirtualPort,
} from './kinds.ts'
export {
  denyAllSecurityGroup,
  ipPoolAddressSetName,
  nodePortGroupName,
  nodePortName,
  overlayCidrsAddressSetName,
  podPortName,
  portGroupAddressSetName,
  routerPortName,
  securityGroupPortGroupName,
  subnetNodePortGroupName,
  subnetVipPortName,
  switchRouterPortName,
  vipPortName,
} from './names.ts'
export { arpProxyOption, migrationOption, virtualPortOption } from './port-options.ts'
export { aclPriority, aclTier, routerPolicyPriority } from './priorities.ts'
export type { MarkedTable, NorthboundTable, ParentRow, RowKind, RowRef } from './row-kind.ts'
