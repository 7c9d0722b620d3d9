import { bgpPeerDefinition } from './bgp-peer.ts'
import type { Definition } from './definition.ts'
import { dnsNameResolverDefinition } from './dns-name-resolver.ts'
import { egressFirewallDefinition } from './egress-firewall.ts'
import { ipDefinition } from './ip.ts'
import { ipPoolDefinition } from './ip-pool.ts'
import { ovnEipDefinition } from './ovn-eip.ts'
import { securityGroupDefinition } from './security-group.ts'
import { providerNetworkDefinition } from './provider-network.ts'
import { routerLbRuleDefinition } from './router-lb-rule.ts'
import { subnetDefinition } from './subnet.ts'
import { switchLbRuleDefinition } from './switch-lb-rule.ts'
import { vipDefinition } from './vip.ts'
import { vlanDefinition } from './vlan.ts'
import { vpcDefinition } from './vpc.ts'
import { vpcDnsDefinition } from './vpc-dns.ts'

/** Every custom resource. The CRD generator, the chart's rights and the scheme test read this list. */
export const definitions: readonly Definition[] = [
  bgpPeerDefinition,
  dnsNameResolverDefinition,
  egressFirewallDefinition,
  ipDefinition,
  ipPoolDefinition,
  ovnEipDefinition,
  securityGroupDefinition,
  providerNetworkDefinition,
  routerLbRuleDefinition,
  subnetDefinition,
  switchLbRuleDefinition,
  vipDefinition,
  vlanDefinition,
  vpcDefinition,
  vpcDnsDefinition,
]

/** Those that the controller acts on. */
export const controllerDefinitions = definitions.filter(({ servedBy }) => servedBy === undefined)

export {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
} from './admin-policy.ts'
export type {
  AdminNetworkPolicy,
  AdminPolicyPeer,
  AdminPolicyPort,
  AdminPolicyProtocol,
  AdminPolicyRule,
  AdminPolicySubject,
  BaselineAdminNetworkPolicy,
  ClusterNetworkPolicy,
} from './admin-policy.ts'
export { iptablesEipResource, type IptablesEip } from './iptables-eip.ts'
export { multiNetworkPolicyResource, type MultiNetworkPolicy } from './multi-network-policy.ts'
export { bgpPeerCondition, bgpPeerResource } from './bgp-peer.ts'
export type { BgpPeer, BgpPeerStatus } from './bgp-peer.ts'
export { dnsNameResolverResource, domainPattern, longestDomain } from './dns-name-resolver.ts'
export type { DnsNameResolver } from './dns-name-resolver.ts'
export { egressFirewallName, egressFirewallReason, egressFirewallResource } from './egress-firewall.ts'
export type { EgressFirewall, EgressFirewallRule } from './egress-firewall.ts'
export {
  conditionType,
  isConditionTrue,
  kubeTime,
  setCondition,
  setMetaCondition,
  withObservedGeneration,
  withStandardConditions,
  withoutCondition,
} from './conditions.ts'
export type { Condition, ConditionChange, ConditionStatus } from './conditions.ts'
export { readInEffect } from './in-effect.ts'
export { customResourceDefinition, objectSchema } from './crd.ts'
export type { JsonSchema } from './crd.ts'
export type { Definition, PrinterColumn } from './definition.ts'
export { ipResource } from './ip.ts'
export type { Ip, IpSpec, IpStatus } from './ip.ts'
export { ipPoolReason, ipPoolResource } from './ip-pool.ts'
export type { IpPool, IpPoolSpec, IpPoolStatus } from './ip-pool.ts'
export { apiVersion, group as apiGroup } from './api-group.ts'
export {
  instanceOf,
  virtualMachineInstanceMigrationResource,
  virtualMachineInstanceResource,
  virtualMachineResource,
} from './kubevirt.ts'
export type { VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceMigration } from './kubevirt.ts'
export { serviceL2StatusResource, type ServiceL2Status } from './service-l2-status.ts'
export { isOfKubeOvn, networkAttachmentResource } from './network-attachment.ts'
export type { NetworkAttachmentDefinition } from './network-attachment.ts'
export { lbRuleReason } from './lb-rule.ts'
export type { LbRule, LbRuleSpec, LbRuleStatus } from './lb-rule.ts'
export { ovnEipReason, ovnEipResource, ovnEipType } from './ovn-eip.ts'
export type { OvnEip, OvnEipSpec, OvnEipStatus } from './ovn-eip.ts'
export { securityGroupReason, securityGroupResource } from './security-group.ts'
export type {
  SecurityGroup,
  SecurityGroupRule,
  SecurityGroupSpec,
  SecurityGroupStatus,
} from './security-group.ts'
export {
  longestInterface,
  providerNetworkInUse,
  providerNetworkReason,
  providerNetworkResource,
  takesPart,
} from './provider-network.ts'
export type {
  NodeCondition,
  ProviderNetwork,
  ProviderNetworkSpec,
  ProviderNetworkStatus,
} from './provider-network.ts'
export { routerLbRuleResource } from './router-lb-rule.ts'
export type { RouterLbRule, RouterLbRuleSpec } from './router-lb-rule.ts'
export { subnetReason, subnetResource } from './subnet.ts'
export type { Subnet, SubnetInEffect, SubnetSpec, SubnetStatus } from './subnet.ts'
export { switchLbRuleResource } from './switch-lb-rule.ts'
export type { SwitchLbRule, SwitchLbRuleSpec } from './switch-lb-rule.ts'
export { vipReason, vipResource, vipType } from './vip.ts'
export type { Vip, VipSpec, VipStatus } from './vip.ts'
export { highestVlanId, vlanReason, vlanResource } from './vlan.ts'
export type { Vlan, VlanSpec, VlanStatus } from './vlan.ts'
export { vpcNamed, vpcReason, vpcResource } from './vpc.ts'
export type { Vpc, VpcSpec, VpcStatus } from './vpc.ts'
export { usualCorefile, vpcDnsReason, vpcDnsResource } from './vpc-dns.ts'
export type { VpcDns, VpcDnsSpec, VpcDnsStatus } from './vpc-dns.ts'
