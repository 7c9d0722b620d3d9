export { namespace, node } from './cluster.ts'
export type { NamespaceFields, NodeFields } from './cluster.ts'
export {
  dnsNameResolver,
  egressFirewall,
  ip,
  ipPool,
  ovnEip,
  providerNetwork,
  securityGroup,
  subnet,
  routerLbRule,
  switchLbRule,
  vip,
  vlan,
  vpc,
  vpcDns,
} from './custom.ts'
export type {
  EgressFirewallFields,
  IpFields,
  IpPoolFields,
  ProviderNetworkFields,
  SecurityGroupFields,
  SubnetFields,
  RouterLbRuleFields,
  SwitchLbRuleFields,
  OvnEipFields,
  VipFields,
  VlanFields,
  VpcDnsFields,
  VpcFields,
} from './custom.ts'
export { pod } from './pod.ts'
export type { PodFields } from './pod.ts'
export { statefulSet, type StatefulSetFields } from './workload.ts'
export { endpointSlice, service } from './service.ts'
export type { EndpointSliceFields, ServiceFields } from './service.ts'
