import type { ControlFeature } from '@kube-ovn/domains-control'
import { ip } from '@kube-ovn/features-addresses/ip'
import { ipPool } from '@kube-ovn/features-addresses/ip-pool'
import { ipPoolStatus } from '@kube-ovn/features-addresses/ip-pool-status'
import { subnetStatus } from '@kube-ovn/features-addresses/subnet-status'
import { ovnEip } from '@kube-ovn/features-addresses/ovn-eip'
import { subnetVip } from '@kube-ovn/features-addresses/subnet-vip'
import { vip } from '@kube-ovn/features-addresses/vip'
import { bgpPeer } from '@kube-ovn/features-network/bgp-peer'
import { namespace } from '@kube-ovn/features-network/namespace'
import { northboundOptions } from '@kube-ovn/features-network/nb-options'
import { node } from '@kube-ovn/features-network/node'
import { nodeAddresses } from '@kube-ovn/features-network/node-addresses'
import { providerNetwork } from '@kube-ovn/features-network/provider-network'
import { subnet } from '@kube-ovn/features-network/subnet'
import { subnetAcls } from '@kube-ovn/features-network/subnet-acl'
import { subnetDhcpOptions } from '@kube-ovn/features-network/subnet-dhcp'
import { subnetEgress } from '@kube-ovn/features-network/subnet-egress'
import { subnetGateway } from '@kube-ovn/features-network/subnet-gw'
import { subnetLocalnet } from '@kube-ovn/features-network/subnet-localnet'
import { subnetMulticast } from '@kube-ovn/features-network/subnet-multicast'
import { subnetNatRules } from '@kube-ovn/features-network/subnet-nat'
import { subnetRouterAdvertisements } from '@kube-ovn/features-network/subnet-ra'
import { subnetInterconnection } from '@kube-ovn/features-network/subnet-u2o'
import { subnetInterconnectionServices } from '@kube-ovn/features-network/subnet-u2o-lb'
import { vlan } from '@kube-ovn/features-network/vlan'
import { vpc } from '@kube-ovn/features-network/vpc'
import { vpcBfd } from '@kube-ovn/features-network/vpc-bfd'
import { vpcExternals } from '@kube-ovn/features-network/vpc-external'
import { vpcPeerings } from '@kube-ovn/features-network/vpc-peering'
import { vpcPolicies } from '@kube-ovn/features-network/vpc-policy'
import { vpcRoutes } from '@kube-ovn/features-network/vpc-route'
import { ignored } from '@kube-ovn/features-pods/ignored'
import { podPortFeature } from '@kube-ovn/features-pods/pod-port'
import { workload } from '@kube-ovn/features-pods/workload'
import { aclSampling } from '@kube-ovn/features-policies/acl-sampling'
import { adminPolicy } from '@kube-ovn/features-policies/admin-policy'
import { dnsNameResolver } from '@kube-ovn/features-policies/dns-name-resolver'
import { egressFirewall } from '@kube-ovn/features-policies/egress-firewall'
import { networkPolicy } from '@kube-ovn/features-policies/network-policy'
import { ownNode } from '@kube-ovn/features-policies/own-node'
import { securityGroup } from '@kube-ovn/features-policies/security-group'
import { denyAll } from '@kube-ovn/features-policies/sg'
import { variablesOfChassis } from '@kube-ovn/features-services/chassis-variables'
import { externalAddress } from '@kube-ovn/features-services/external-address'
import { healthCheck } from '@kube-ovn/features-services/health-check'
import { loadBalancers } from '@kube-ovn/features-services/load-balancer'
import { service } from '@kube-ovn/features-services/service'
import { subnetBalancers } from '@kube-ovn/features-services/subnet-lb'
import { lbSvc } from '@kube-ovn/features-services/lb-svc'
import { routerLbRule } from '@kube-ovn/features-services/router-lb-rule'
import { switchLbRule } from '@kube-ovn/features-services/switch-lb-rule'
import { vpcDns } from '@kube-ovn/features-services/vpc-dns'

/** Everything that the controller does, a line a feature. Containers stand before what goes into them. */
export const controlFeatures: readonly ControlFeature[] = [
  northboundOptions,
  denyAll,
  aclSampling,
  securityGroup,
  vpc,
  vpcRoutes,
  vpcPolicies,
  vpcPeerings,
  vpcExternals,
  vpcBfd,
  providerNetwork,
  vlan,
  subnet,
  subnetLocalnet,
  subnetMulticast,
  subnetInterconnection,
  subnetInterconnectionServices,
  nodeAddresses,
  subnetAcls,
  subnetRouterAdvertisements,
  subnetNatRules,
  subnetDhcpOptions,
  node,
  // What takes the place of another way out comes before that one goes.
  subnetEgress,
  subnetGateway,
  subnetStatus,
  ipPool,
  ipPoolStatus,
  namespace,
  vip,
  ovnEip,
  dnsNameResolver,
  egressFirewall,
  adminPolicy,
  networkPolicy,
  ownNode,
  podPortFeature,
  ip,
  subnetVip,
  loadBalancers,
  subnetBalancers,
  variablesOfChassis,
  switchLbRule,
  routerLbRule,
  vpcDns,
  lbSvc,
  service,
  externalAddress,
  healthCheck,
  bgpPeer,
  workload,
  ignored,
]
