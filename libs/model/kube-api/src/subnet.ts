import { z } from 'zod'
import { addressPairRule, cidrPairRule, oneOfRule } from './cel.ts'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import {
  bigCount,
  checkedText,
  flag,
  generation,
  integer,
  labelSelector,
  list,
  text,
  texts,
  uint32,
} from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const natMatch = z
  .object({
    srcIPs: text('Source addresses or prefixes, separated by commas, one family.'),
    dstIPs: text('Destination addresses or prefixes, separated by commas, of the same family.'),
  })
  .optional()
  .meta({ description: 'Traffic that the rule is about.' })

const natRuleAction = text('nat or forward.')

const natOutgoingPolicyRule = z.object({ match: natMatch, action: natRuleAction })

const acl = z.object({
  direction: text('from-lport (what Pods send) or to-lport (what Pods receive).'),
  priority: integer('0 to 32767, the highest match wins.'),
  match: text('OVN match expression.'),
  action: text('allow-related, allow-stateless, allow, drop or reject.'),
})

const spec = z.object({
  cidrBlock: checkedText(
    'One IP prefix, or an IPv4 and an IPv6 prefix separated by a comma. Host bits are masked off. ' +
      'Empty only with vlan: guests then get their addresses from elsewhere.',
    128,
    cidrPairRule,
  ),
  protocol: text('IPv4, IPv6, Dual or Mac. Derived from cidrBlock by the controller.'),
  gateway: checkedText(
    'Gateway address, one for each family of cidrBlock. Default: the first usable address.',
    128,
    addressPairRule('gateway'),
  ),
  excludeIps: texts(
    'Addresses (a) and ranges (a..b) that are never allocated. The controller adds the gateway.',
  ),
  default: flag('The subnet for Pods whose namespace is bound to none. Kept for the cluster default only.'),
  vpc: text('VPC that the subnet belongs to; cannot be changed. Default: ovn-cluster.'),
  provider: text(
    'ovn (default), <nad>.<namespace>.ovn for further NICs, or <nad>.<namespace> for addresses only.',
  ),
  namespaces: texts('Namespaces whose Pods take their addresses here.'),
  namespaceSelectors: list(
    'Labels of namespaces whose Pods take their addresses here, in addition to namespaces.',
    labelSelector,
  ),
  gatewayType: checkedText(
    'How traffic leaves the default VPC: on the node of each Pod (distributed, the default) or by way of gateway nodes (centralized).',
    64,
    oneOfRule('gatewayType', ['distributed', 'centralized']),
  ),
  gatewayNode: text(
    'Gateway nodes of a centralized subnet, separated by commas, each node or node:egressIP.',
  ),
  gatewayNodeSelectors: list(
    'Labels of gateway nodes of a centralized subnet, used when gatewayNode is empty.',
    labelSelector,
  ),
  enableEcmp: flag('Uses all ready gateway nodes at once in place of active and standby.'),
  natOutgoing: flag("Gives traffic that leaves the cluster the node's address."),
  natOutgoingPolicyRules: list('Exceptions to natOutgoing, the first match wins.', natOutgoingPolicyRule),
  externalEgressGateway: text(
    'Next hops outside the cluster, v4, v6 or v4,v6, for traffic that leaves it. Excludes natOutgoing.',
  ),
  policyRoutingPriority: uint32('Priority of the ip rule on gateway nodes for externalEgressGateway.'),
  policyRoutingTableID: uint32('Route table on gateway nodes for externalEgressGateway.'),
  mtu: uint32('MTU of Pod NICs made from now on, bytes; 0 derives it from the tunnel.'),
  private: flag('Drops traffic from other subnets but those in allowSubnets.'),
  allowSubnets: texts('IP prefixes that may reach a private subnet.'),
  allowEWTraffic: flag('Lets traffic within the subnet pass by acls.'),
  acls: list('Access control rules of the subnet, handed to OVN as they are.', acl),
  vlan: text('Vlan that the subnet is on: makes it an underlay subnet.'),
  vips: texts('Addresses of the subnet for which virtual ports are made.'),
  logicalGateway: flag('Uses an OVN gateway on an underlay subnet in place of the physical one.'),
  u2oInterconnection: flag('Connects an underlay subnet to the router of its VPC.'),
  u2oInterconnectionIP: text('Address of that connection; one is allocated when empty.'),
  u2oFeatures: z
    .object({ overlayOnlyRouting: flag('Sends only traffic for overlay subnets over the connection.') })
    .optional()
    .meta({ description: 'Options of u2oInterconnection.' }),
  disableGatewayCheck: flag('Does not wait for the gateway when a Pod is added.'),
  disableInterConnection: flag('Keeps the subnet out of cluster interconnection.'),
  enableDHCP: flag('Answers DHCP requests by OVN.'),
  dhcpV4Options: text(
    'DHCPv4 options, key=value separated by commas; lists within braces separated by semicolons.',
  ),
  dhcpV6Options: text(
    'DHCPv6 options, key=value separated by commas; lists within braces separated by semicolons.',
  ),
  enableIPv6RA: flag('Sends IPv6 router advertisements.'),
  ipv6RAConfigs: text('Options of router advertisements, key=value separated by commas.'),
  enableLb: flag('Attaches the load balancers of the VPC. Default: as the controller is configured.'),
  enableMulticastSnoop: flag('Snoops IGMP and MLD and sends queries.'),
  enableExternalLBAddress: flag('Lets addresses of an external load balancer lie in this underlay subnet.'),
  routeTable: text("Route table of the subnet's router port; empty is the main one."),
  nodeNetwork: text('Network of the nodes that carries the tunnels of Pods made from now on.'),
})

const inEffect = z
  .object({
    cidrBlock: text('One IP prefix, or one of each family separated by a comma.'),
    protocol: text('IPv4, IPv6 or Dual.'),
    gateway: text('Gateway address, one for each family of cidrBlock.'),
    excludeIps: texts('Addresses (a) and ranges (a..b) that are never allocated.'),
    provider: text('Network of the Pods that take their addresses here.'),
    vpc: text('VPC that the subnet is part of; empty without a switch.'),
    natOutgoing: flag("Traffic that leaves the cluster gets the node's address."),
    mtu: uint32('MTU of Pod NICs, bytes; 0 derives it from the tunnel.'),
    vlan: text('Vlan that the subnet is on; absent on an overlay.'),
    logicalGateway: flag('The gateway is one of OVN; absent on an overlay.'),
    u2oInterconnection: flag(
      'The router of the VPC has a port on it beside that gateway; absent where it has not.',
    ),
  })
  .optional()
  .meta({
    description:
      'What was accepted of spec: OVN, the nodes and a controller that starts go by it. It stays while spec can not be used.',
  })

const egress = z
  .object({
    gateways: list(
      'Gateway nodes of a centralized subnet that are there, the preferred ones first.',
      z.object({
        node: text('Name of the node.'),
        addresses: texts('Given to what leaves the cluster there, at most one of each family.'),
      }),
    ),
    active: texts('Those by way of which traffic leaves now.'),
    nextHop: text('externalEgressGateway: v4, v6 or v4,v6.'),
    rulePriority: uint32('Priority of the ip rule that leads to it.'),
    routeTable: uint32('Route table that leads to it.'),
  })
  .optional()
  .meta({
    description:
      'How traffic leaves the cluster where that is not by the node of each Pod alone. Nodes go by it; it stays while spec can not be used.',
  })

const externalAddresses = list(
  'Addresses of external load balancers in an underlay subnet that OVN serves. Nodes go by it.',
  z.object({
    address: text('The address.'),
    protocol: text('tcp or udp.'),
    port: uint32('Port of the Service.'),
    nodes: texts('Nodes with backends: what comes to one of them for the address is led to these.'),
  }),
)

const status = z.object({
  observedGeneration: generation,
  inEffect,
  conditions: list('Ready, Validated and Error; FieldsIgnored, only as long as it is so.', conditionSchema),
  v4availableIPs: bigCount('IPv4 addresses that are free.'),
  v4availableIPrange: text('The free IPv4 addresses as ranges.'),
  v4usingIPs: bigCount('IPv4 addresses in use.'),
  v4usingIPrange: text('The IPv4 addresses in use as ranges.'),
  v6availableIPs: bigCount('IPv6 addresses that are free.'),
  v6availableIPrange: text('The free IPv6 addresses as ranges.'),
  v6usingIPs: bigCount('IPv6 addresses in use.'),
  v6usingIPrange: text('The IPv6 addresses in use as ranges.'),
  egress,
  externalAddresses,
  activateGateway: text('Node that is the active gateway of a centralized subnet.'),
  dhcpV4OptionsUUID: text('Row of the DHCPv4 options in OVN.'),
  dhcpV6OptionsUUID: text('Row of the DHCPv6 options in OVN.'),
  u2oInterconnectionIP: text('Address of the connection to the VPC router.'),
  u2oInterconnectionMAC: text('MAC address of the connection to the VPC router.'),
  u2oInterconnectionVPC: text('VPC of the connection.'),
  natOutgoingPolicyRules: list(
    'natOutgoingPolicyRules in effect.',
    z.object({
      ruleID: text('Identifies the rule in names on the nodes.'),
      match: natMatch,
      action: natRuleAction,
    }),
  ),
  mcastQuerierIP: text('Source address of multicast queries.'),
  mcastQuerierMAC: text('Source MAC address of multicast queries.'),
})

export type SubnetSpec = DeepReadonly<z.infer<typeof spec>>
export type SubnetStatus = DeepReadonly<z.infer<typeof status>>
export type SubnetInEffect = NonNullable<SubnetStatus['inEffect']>

/** A range of addresses and the logical switch that they are on. */
export interface Subnet extends KubeObject {
  readonly spec?: SubnetSpec
  readonly status?: SubnetStatus
}

export const subnetResource: Resource<Subnet> = {
  group,
  version,
  kind: 'Subnet',
  plural: 'subnets',
  namespaced: false,
}

/** Reasons of a Subnet's conditions and events. */
export const subnetReason = {
  validateLogicalSwitchSuccess: 'ValidateLogicalSwitchSuccess',
  validateLogicalSwitchFailed: 'ValidateLogicalSwitchFailed',
  validateSubnetVlanFailed: 'ValidateSubnetVlanFailed',
  addLbToLogicalSwitchFailed: 'AddLbToLogicalSwitchFailed',
  setPrivateLogicalSwitchFailed: 'SetPrivateLogicalSwitchFailed',
  setPrivateLogicalSwitchSuccess: 'SetPrivateLogicalSwitchSuccess',
  resetLogicalSwitchAclFailed: 'ResetLogicalSwitchAclFailed',
  resetLogicalSwitchAclSuccess: 'ResetLogicalSwitchAclSuccess',
  setLogicalSwitchAclsFailed: 'SetLogicalSwitchAclsFailed',
  setNonOvnSubnetSuccess: 'SetNonOvnSubnetSuccess',
  noActiveGatewayFound: 'NoActiveGatewayFound',
  reconcileCentralizedGatewaySuccess: 'ReconcileCentralizedGatewaySuccess',
  changeToDistributedGw: 'ChangeToDistributedGw',
  noReadyGateway: 'NoReadyGateway',
  /** Of this project: a deletion waits for holders of addresses. */
  subnetInUse: 'SubnetInUse',
  /** Of this project: entries of `excludeIps` are outside the subnet. */
  excludeIpsIgnored: 'ExcludeIpsIgnored',
  /** Of this project: rules of one priority decide otherwise about the same packets. */
  aclsContradict: 'AclsContradict',
  /** Of this project: namespaces that it names belong to another VPC. */
  namespaceOfOtherVpc: 'NamespaceOfOtherVpc',
  /** Of this project: another subnet has the route table. */
  routeTableInUse: 'RouteTableInUse',
  /** Of this project: a node is no neighbour of the gateway outside. */
  nextHopUnreachable: 'NextHopUnreachable',
  /** Of this project: gateway nodes that are named are not there. */
  gatewayNodeUnknown: 'GatewayNodeUnknown',
  subnetGatewayTypeChanged: 'SubnetGatewayTypeChanged',
  subnetGatewayNodeChanged: 'SubnetGatewayNodeChanged',
} as const

export const subnetDefinition: Definition = {
  resource: subnetResource,
  singular: 'subnet',
  shortNames: ['subnet'],
  description: 'A range of addresses and the logical switch that they are on.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'Vpc', type: 'string', jsonPath: '.spec.vpc' },
    { name: 'Vlan', type: 'string', jsonPath: '.spec.vlan' },
    { name: 'Protocol', type: 'string', jsonPath: '.spec.protocol' },
    { name: 'CIDR', type: 'string', jsonPath: '.spec.cidrBlock' },
    { name: 'Private', type: 'boolean', jsonPath: '.spec.private' },
    { name: 'NAT', type: 'boolean', jsonPath: '.spec.natOutgoing' },
    { name: 'Default', type: 'boolean', jsonPath: '.spec.default' },
    { name: 'GatewayType', type: 'string', jsonPath: '.spec.gatewayType' },
    { name: 'V4Used', type: 'number', jsonPath: '.status.v4usingIPs' },
    { name: 'V4Available', type: 'number', jsonPath: '.status.v4availableIPs' },
    { name: 'V6Used', type: 'number', jsonPath: '.status.v6usingIPs' },
    { name: 'V6Available', type: 'number', jsonPath: '.status.v6availableIPs' },
    { name: 'ExcludeIPs', type: 'string', jsonPath: '.spec.excludeIps' },
    { name: 'U2OInterconnectionIP', type: 'string', jsonPath: '.status.u2oInterconnectionIP' },
  ],
}
