import type { ControlFeature } from '@kube-ovn/domains-control'
import { ip } from '@kube-ovn/features-addresses/ip'
import { ipPool } from '@kube-ovn/features-addresses/ip-pool'
import { ipPoolStatus } from '@kube-ovn/features-addresses/ip-pool-status'
import { subnetStatus } from '@kube-ovn/features-addresses/subnet-status'
import { subnetVip } from '@kube-ovn/features-addresses/subnet-vip'
import { vip } from '@kube-ovn/features-addresses/vip'
import { namespace } from '@kube-ovn/features-network/namespace'
import { northboundOptions } from '@kube-ovn/features-network/nb-options'
import { node } from '@kube-ovn/features-network/node'
import { nodeAddresses } from '@kube-ovn/features-network/node-addresses'
import { subnet } from '@kube-ovn/features-network/subnet'
import { subnetAcls } from '@kube-ovn/features-network/subnet-acl'
import { subnetDhcpOptions } from '@kube-ovn/features-network/subnet-dhcp'
import { subnetGateway } from '@kube-ovn/features-network/subnet-gw'
import { subnetNatRules } from '@kube-ovn/features-network/subnet-nat'
import { subnetRouterAdvertisements } from '@kube-ovn/features-network/subnet-ra'
import { vpc } from '@kube-ovn/features-network/vpc'
import { vpcPeerings } from '@kube-ovn/features-network/vpc-peering'
import { vpcPolicies } from '@kube-ovn/features-network/vpc-policy'
import { vpcRoutes } from '@kube-ovn/features-network/vpc-route'
import { ignored } from '@kube-ovn/features-pods/ignored'
import { podPortFeature } from '@kube-ovn/features-pods/pod-port'
import { workload } from '@kube-ovn/features-pods/workload'
import { networkPolicy } from '@kube-ovn/features-policies/network-policy'
import { ownNode } from '@kube-ovn/features-policies/own-node'
import { denyAll } from '@kube-ovn/features-policies/sg'
import { loadBalancers } from '@kube-ovn/features-services/load-balancer'
import { service } from '@kube-ovn/features-services/service'
import { subnetBalancers } from '@kube-ovn/features-services/subnet-lb'

/** Everything that the controller does, a line a feature. Containers stand before what goes into them. */
export const controlFeatures: readonly ControlFeature[] = [
  northboundOptions,
  denyAll,
  vpc,
  vpcRoutes,
  vpcPolicies,
  vpcPeerings,
  subnet,
  nodeAddresses,
  subnetAcls,
  subnetRouterAdvertisements,
  subnetNatRules,
  subnetDhcpOptions,
  node,
  subnetGateway,
  subnetStatus,
  ipPool,
  ipPoolStatus,
  namespace,
  vip,
  networkPolicy,
  ownNode,
  podPortFeature,
  ip,
  subnetVip,
  loadBalancers,
  subnetBalancers,
  service,
  workload,
  ignored,
]
