import { externalId, vendor } from './external-ids.ts'
import {
  baselineSecurityGroup,
  denyAllSecurityGroup,
  firewallGroupName,
  isBalancerGroupName,
  isBfdPortName,
  isSecurityGroupPortGroup,
  isServiceBalancerName,
  localnetPortName,
  nodeAddressSetName,
  podPortName,
  querierPortName,
  securityGroupPortGroupName,
  subnetVipPortName,
} from './names.ts'
import { preferLocalOption } from './balancer-options.ts'
import { arpProxyOption, virtualPortOption } from './port-options.ts'
import { aclPriority, aclTier, routerPolicyPriority } from './priorities.ts'
import type { MarkedTable, NorthboundTable, ParentRow, RowKind } from './row-kind.ts'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'

type Marks = Readonly<Record<string, string>>

interface KindOptions<N extends MarkedTable> {
  readonly name: string
  readonly table: N
  readonly shared?: readonly string[]
  readonly exactMaps?: readonly string[]
  readonly composed?: readonly string[]
  readonly parent?: readonly [NorthboundTable, string]
  readonly identify: (row: OvnNorthbound[N], ids: Marks, parent: ParentRow | undefined) => string | undefined
  readonly resembles?: (row: OvnNorthbound[N], ids: Marks) => string | undefined
}

/**
 * Declares a kind. Only a row with `vendor=kube-ovn` is ever identified as ours: a foreign row is nobody's to adopt.
 */
function rowKind<N extends MarkedTable>(options: KindOptions<N>): RowKind<N> {
  const { resembles } = options
  return {
    name: options.name,
    table: options.table,
    shared: options.shared ?? [],
    exactMaps: options.exactMaps ?? [],
    composed: options.composed ?? [],
    ...(options.parent === undefined ? {} : { parent: options.parent }),
    identify(row, parent) {
      return isOfVendor(row) ? options.identify(row, row.external_ids, parent) : undefined
    },
    ...(resembles === undefined
      ? {}
      : { resembles: (row) => (isOfVendor(row) ? resembles(row, row.external_ids) : undefined) }),
  }
}

function isOfVendor({ external_ids: ids }: { readonly external_ids: Marks }): boolean {
  return ids[externalId.vendor] === vendor
}

function familyOfMatch(match: string): 4 | 6 | undefined {
  if (match.startsWith('ip4.')) return 4
  if (match.startsWith('ip6.')) return 6
  return undefined
}

/** A family's share of something, e.g. `ovn-default/4`. */
function perFamily(key: string, match: string): string | undefined {
  const family = familyOfMatch(match)
  return family === undefined ? undefined : `${key}/${family}`
}

export const logicalRouter = rowKind({
  name: 'lr',
  table: 'Logical_Router',
  shared: ['ports', 'policies', 'static_routes', 'nat', 'load_balancer', 'load_balancer_group'],
  identify: (row) => row.name,
})

export const logicalSwitch = rowKind({
  name: 'ls',
  table: 'Logical_Switch',
  shared: [
    'ports',
    'acls',
    'qos_rules',
    'load_balancer',
    'load_balancer_group',
    'dns_records',
    'forwarding_groups',
  ],
  identify: (row) => row.name,
})

/** The router's port to a subnet. */
export const subnetRouterPort = rowKind({
  name: 'lrp',
  table: 'Logical_Router_Port',
  shared: ['gateway_chassis', 'ipv6_prefix', 'ipv6_ra_configs'],
  composed: ['ipv6_prefix', 'ipv6_ra_configs'],
  identify: (row, ids) =>
    ids[externalId.logicalRouter] !== undefined && row.peer === undefined && !isBfdPortName(row.name)
      ? row.name
      : undefined,
})

/** The router's port to the router of another VPC. */
export const peerRouterPort = rowKind({
  name: 'lrp-peer',
  table: 'Logical_Router_Port',
  identify: (row, ids) =>
    ids[externalId.logicalRouter] !== undefined && row.peer !== undefined ? row.name : undefined,
})

/** The router's port to an external subnet. It shows nothing that one to a subnet of its own does not. */
export const externalRouterPort = rowKind({
  name: 'lrp-external',
  table: 'Logical_Router_Port',
  shared: ['gateway_chassis'],
  identify: () => undefined,
  resembles: (row, ids) =>
    ids[externalId.logicalRouter] !== undefined && row.peer === undefined ? row.name : undefined,
})

/** The port of an external subnet's switch to the router of a VPC; it shows as little. */
export const externalSwitchPort = rowKind({
  name: 'lsp-external',
  table: 'Logical_Switch_Port',
  identify: () => undefined,
  resembles: (row) => (row.type === 'router' ? row.name : undefined),
})

/** A node that may host a router's port, by its name: that of the port and the chassis. Upstream leaves its vendor out. */
export const gatewayChassis: RowKind<'Gateway_Chassis'> = {
  name: 'gwc',
  table: 'Gateway_Chassis',
  shared: [],
  exactMaps: [],
  identify: ({ name, chassis_name: chassis, external_ids: ids }) =>
    name === `${ids[externalId.routerPort] ?? ''}-${chassis}` ? name : undefined,
}

/** The router's port that is but the source of BFD sessions, by its name. */
export const bfdRouterPort = rowKind({
  name: 'lrp-bfd',
  table: 'Logical_Router_Port',
  identify: ({ name }) => (isBfdPortName(name) ? name : undefined),
})

/** The nodes that may host such a port, by its name. */
export const bfdChassisGroup = rowKind({
  name: 'hacg-bfd',
  table: 'HA_Chassis_Group',
  shared: ['ha_chassis'],
  identify: ({ name }) => (isBfdPortName(name) ? name : undefined),
})

/** One of these nodes, by group and chassis. */
export const bfdChassis = rowKind({
  name: 'hac-bfd',
  table: 'HA_Chassis',
  identify: ({ chassis_name: chassis }, { [externalId.chassisGroup]: group = '' }) =>
    isBfdPortName(group) ? `${group}/${chassis}` : undefined,
})

/**
 * A session by which a router's port asks a next hop whether it lives, by both. There is no second one of the same, so that one
 * which says nothing of itself, as upstream writes them, is taken over by the VPC that wants it; else it is left alone.
 */
export const bfdSession: RowKind<'BFD'> = {
  ...rowKind({ name: 'bfd', table: 'BFD', identify: (row) => `${row.logical_port}/${row.dst_ip}` }),
  resembles: (row) =>
    Object.keys(row.external_ids).length === 0 ? `${row.logical_port}/${row.dst_ip}` : undefined,
}

/** The switch's port to the router. */
export const switchRouterPort = rowKind({
  name: 'lsp-lr',
  table: 'Logical_Switch_Port',
  identify: (row) => (row.type === 'router' ? row.name : undefined),
})

/** The port of an underlay subnet's switch to the physical network, by the subnet. That of a gateway names no prefixes. */
export const localnetPort = rowKind({
  name: 'lsp-localnet',
  table: 'Logical_Switch_Port',
  exactMaps: ['options'],
  identify: (row, ids) => {
    const subnet = ids[externalId.logicalSwitch] ?? ''
    const hasPrefix = (ids[externalId.ipv4Network] ?? ids[externalId.ipv6Network]) !== undefined
    return row.type === 'localnet' && hasPrefix && row.name === localnetPortName(subnet) ? subnet : undefined
  },
})

/** The port that stands for the source of a subnet's multicast queries, by the subnet. */
export const querierPort = rowKind({
  name: 'lsp-querier',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => {
    const subnet = ids[externalId.logicalSwitch] ?? ''
    const isQuerier = row.type === '' && ids[externalId.pod] === `default/${row.name}`
    return isQuerier && row.name === querierPortName(subnet) ? subnet : undefined
  },
})

/** A pod's port in one of its networks. */
export const podPort = rowKind({
  name: 'lsp',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => (isNamedAfterPod(row, ids) && !answersArp(row) ? row.name : undefined),
})

function isNamedAfterPod(row: OvnNorthbound['Logical_Switch_Port'], ids: Marks): boolean {
  const [namespace = '', pod = ''] = (ids[externalId.pod] ?? '').split('/')
  if (row.type !== '' || pod === '') return false
  const first = podPortName(namespace, pod)
  return row.name === first || row.name.startsWith(`${first}.`)
}

/** "From this pod's address": leaves by the next hop that the pod chose. By subnet and address. */
export const northGatewayPolicy = rowKind({
  name: 'lrpol-north',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    const address = row.match.split('.src == ')[1]
    if (subnet === undefined || address === undefined) return undefined
    return row.priority === routerPolicyPriority.podGateway ? `${subnet}/${address}` : undefined
  },
})

/** The port of a node's `ovn0`. */
export const nodePort = rowKind({
  name: 'lsp-node',
  table: 'Logical_Switch_Port',
  identify: (row, ids) =>
    isBare(row, ids) && row.name.startsWith('node-') ? row.name.slice('node-'.length) : undefined,
})

function isBare(row: OvnNorthbound['Logical_Switch_Port'], ids: Marks): boolean {
  return row.type === '' && ids[externalId.pod] === undefined && !lacksNamespace(row)
}

/**
 * The port of a Vip that is of a type which has one.
 *
 * That of a machine with a namespace looks like a pod's. Only its Vip knows better.
 */
export const vipPort = rowKind({
  name: 'lsp-vip',
  table: 'Logical_Switch_Port',
  identify: (row) => (row.type === '' && (answersArp(row) || lacksNamespace(row)) ? row.name : undefined),
  resembles: (row, ids) => (isNamedAfterPod(row, ids) ? row.name : undefined),
})

/** Whether the namespace in a port's name is empty: a Vip may have none. */
function lacksNamespace({ name }: OvnNorthbound['Logical_Switch_Port']): boolean {
  return /\.(\.|$)/.test(name)
}

/** Whether a port stands for a SwitchLBRule. */
function answersArp(row: OvnNorthbound['Logical_Switch_Port']): boolean {
  return row.options[arpProxyOption] === 'true'
}

/** The virtual port of a Vip that pods may have beside their own addresses. A Vip may be named like an address of a subnet. */
export const vipVirtualPort = rowKind({
  name: 'lsp-vip-virtual',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => (row.type === 'virtual' && !isOfSubnetVip(row, ids) ? row.name : undefined),
  resembles: (row) => (row.type === 'virtual' ? row.name : undefined),
})

/** The virtual port of an address in a subnet's `spec.vips`. */
export const subnetVipPort = rowKind({
  name: 'lsp-subnet-vip',
  table: 'Logical_Switch_Port',
  identify: (row, ids) => (row.type === 'virtual' && isOfSubnetVip(row, ids) ? row.name : undefined),
})

function isOfSubnetVip(row: OvnNorthbound['Logical_Switch_Port'], ids: Marks): boolean {
  return (
    row.name ===
    subnetVipPortName(ids[externalId.logicalSwitch] ?? '', row.options[virtualPortOption.address] ?? '')
  )
}

/** The port of an OvnEip for a node. One of a node's `ovn0` is as bare, and has its name by that. */
export const eipPort = rowKind({
  name: 'lsp-eip',
  table: 'Logical_Switch_Port',
  identify: (row, ids) =>
    isBare(row, ids) && !row.name.startsWith('node-') && !answersArp(row) ? row.name : undefined,
  resembles: (row, ids) => (isBare(row, ids) ? row.name : undefined),
})

/** "The destination is one of the router's subnets", by subnet and family. */
export const subnetPolicy = rowKind({
  name: 'lrpol-subnet',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || row.priority !== routerPolicyPriority.subnetDestination) return undefined
    return row.action === 'allow' ? perFamily(subnet, row.match) : undefined
  },
})

/** "The destination is a node's address", by node and family. */
export const nodePolicy = rowKind({
  name: 'lrpol-node',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const node = ids[externalId.node]
    if (node === undefined || row.priority !== routerPolicyPriority.nodeDestination) return undefined
    return ids[externalId.isLocalDnsCache] === 'true' ? undefined : perFamily(node, row.match)
  },
})

/** "From a pod of this node to a node-local DNS address", by node and address. */
export const nodeLocalDnsPolicy = rowKind({
  name: 'lrpol-dns',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const node = ids[externalId.node]
    const address = row.match.split('.dst == ')[1]
    return node === undefined || address === undefined || ids[externalId.isLocalDnsCache] !== 'true'
      ? undefined
      : `${node}/${address}`
  },
})

/** "From a pod of this subnet on this node": leaves by the node. By subnet, node and family. */
export const subnetGatewayPolicy = rowKind({
  name: 'lrpol-gw',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const node = ids[externalId.node]
    const subnet = ids[externalId.subnet]
    if (node === undefined || subnet === undefined || !row.match.includes('$')) return undefined
    return row.priority === routerPolicyPriority.subnetGateway
      ? perFamily(`${subnet}/${node}`, row.match)
      : undefined
  },
})

/**
 * "From an address of the subnet, to the join addresses of its gateway nodes", by subnet and family. Its `external_ids` have an address by
 * each node's name, which may be any: that it compares with no address set tells it from {@link subnetGatewayPolicy}.
 */
export const centralGatewayPolicy = rowKind({
  name: 'lrpol-central',
  table: 'Logical_Router_Policy',
  exactMaps: ['external_ids'],
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || row.match.includes('$') || ids[externalId.isU2ORoutePolicy] === 'true')
      return undefined
    const isGateway = row.priority === routerPolicyPriority.subnetGateway && row.action === 'reroute'
    return isGateway ? perFamily(subnet, row.match) : undefined
  },
})

/** What leads traffic of an underlay subnet that is connected to the router, by subnet, priority and family. */
export const interconnectionPolicy = rowKind({
  name: 'lrpol-u2o',
  table: 'Logical_Router_Policy',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || ids[externalId.isU2ORoutePolicy] !== 'true') return undefined
    return ids[externalId.isU2OWithoutBalancer] === 'true'
      ? undefined
      : perFamily(`${subnet}/${row.priority}`, row.match)
  },
})

/** "From a pod of this underlay subnet on this node to Services": by way of the node. By subnet, node and prefix of Services. */
export const interconnectionServicePolicy = rowKind({
  name: 'lrpol-u2o-lb',
  table: 'Logical_Router_Policy',
  identify: (_row, ids) => {
    const [subnet, node, cidr] = [ids[externalId.subnet], ids[externalId.node], ids[externalId.serviceCidr]]
    const isKnown = subnet !== undefined && node !== undefined && cidr !== undefined
    return isKnown && ids[externalId.isU2OWithoutBalancer] === 'true'
      ? `${subnet}/${node}/${cidr}`
      : undefined
  },
})

/** A route of a VPC, by router, table, address that is compared, prefix and next hop: all by which OVN tells routes apart. */
export const vpcRoute = rowKind({
  name: 'route',
  table: 'Logical_Router_Static_Route',
  parent: ['Logical_Router', 'static_routes'],
  identify: (row, _ids, parent) =>
    parent === undefined
      ? undefined
      : [parent.name, row.route_table, row.policy ?? 'dst-ip', row.ip_prefix, row.nexthop].join('/'),
})

/** A policy that a user gave a VPC, by router, priority and match. Those of others say more of themselves than their vendor. */
export const vpcPolicy = rowKind({
  name: 'lrpol-vpc',
  table: 'Logical_Router_Policy',
  parent: ['Logical_Router', 'policies'],
  identify: (row, ids, parent) => {
    const isPlain = Object.keys(ids).every((key) => plainMarks.has(key))
    return parent === undefined || !isPlain ? undefined : `${parent.name}/${row.priority}/${row.match}`
  },
})

const plainMarks: ReadonlySet<string> = new Set([externalId.vendor, externalId.owner, externalId.id])

/** Ports of all pods of a node. */
export const nodePortGroup = rowKind({
  name: 'pg-node',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (_row, ids) => {
    const node = ids[externalId.node]
    return node !== undefined && ids[externalId.networkPolicy] === `node/${node}` ? node : undefined
  },
})

/** Ports of a subnet's pods on a node, by subnet and node. */
export const subnetNodePortGroup = rowKind({
  name: 'pg-subnet',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (_row, ids) => {
    const node = ids[externalId.node]
    const subnet = ids[externalId.subnet]
    return node !== undefined && subnet !== undefined ? `${subnet}/${node}` : undefined
  },
})

/** Ports of the pods of an underlay subnet on a node, which reach Services by way of that. By its name: it does not say the node. */
export const interconnectionPortGroup = rowKind({
  name: 'pg-u2o',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (row, ids) => (ids[externalId.isU2O] === 'true' ? row.name : undefined),
})

/** Ports whose security groups allow nothing. */
export const denyAllPortGroup = rowKind({
  name: 'pg-deny',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (_row, ids) =>
    ids[externalId.securityGroup] === denyAllSecurityGroup ? denyAllSecurityGroup : undefined,
})

/** The drops of {@link denyAllPortGroup}, by direction and tier. */
export const denyAllAcl = rowKind({
  name: 'acl-deny',
  table: 'ACL',
  identify: (row, ids) =>
    ids[externalId.parent] === securityGroupPortGroupName(denyAllSecurityGroup)
      ? `${row.direction}/${row.tier}`
      : undefined,
})

/** Ports all of whose security groups are of tier 1. */
export const baselinePortGroup = rowKind({
  name: 'pg-baseline',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (_row, ids) =>
    ids[externalId.securityGroup] === baselineSecurityGroup ? baselineSecurityGroup : undefined,
})

/** Past tier 2, for the ports of {@link baselinePortGroup}, by direction. */
export const baselineAcl = rowKind({
  name: 'acl-baseline',
  table: 'ACL',
  identify: (row, ids) =>
    ids[externalId.parent] === securityGroupPortGroupName(baselineSecurityGroup) ? row.direction : undefined,
})

const builtInGroups: ReadonlySet<string> = new Set(
  [denyAllSecurityGroup, baselineSecurityGroup].map(securityGroupPortGroupName),
)

/** Ports that are in a security group, by the name of the port group. */
export const securityGroupPortGroup = rowKind({
  name: 'pg-sg',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (row, ids) =>
    ids[externalId.securityGroup] !== undefined && !builtInGroups.has(row.name) ? row.name : undefined,
})

/** Addresses of the ports that are in a security group, by the name of the set. */
export const securityGroupAddresses = rowKind({
  name: 'as-sg',
  table: 'Address_Set',
  shared: ['addresses'],
  composed: ['addresses'],
  identify: (row, ids) => (ids[externalId.securityGroup] === undefined ? undefined : row.name),
})

/** A rule of a security group, or what ports need whatever it says: by the name of its port group, direction, tier, priority and match. */
export const securityGroupAcl = rowKind({
  name: 'acl-sg',
  table: 'ACL',
  identify: (row, ids) => {
    const parent = ids[externalId.parent]
    if (parent === undefined || !isSecurityGroupPortGroup(parent) || builtInGroups.has(parent))
      return undefined
    return groupAclId(parent, row)
  },
})

/** How an ACL of a port group is told from the others of the group. */
export function groupAclId(group: string, { direction, tier, priority, match }: AclContent): string {
  return `${group}/${direction}/${tier}/${priority}/${match}`
}

/** The name of the switch that an ACL is on, by what both say. */
function switchOfAcl(ids: Marks, parent: ParentRow | undefined): string | undefined {
  const name = ids[externalId.parent]
  return parent !== undefined && name === parent.name ? name : undefined
}

const privateAllowMatch = /^\(ip[46]\.src == \S+ && ip[46]\.dst == (\S+)\) \|\| /

/** What a private subnet drops and lets in. By subnet, and what it is about. */
export const privateSubnetAcl = rowKind({
  name: 'acl-private',
  table: 'ACL',
  parent: ['Logical_Switch', 'acls'],
  identify: (row, ids, parent) => {
    const subnet = switchOfAcl(ids, parent)
    if (subnet === undefined || ids[externalId.subnet] !== undefined) return undefined
    if (row.priority === aclPriority.privateDrop) return `${subnet}/drop`
    if (row.match.includes('$')) return perFamily(`${subnet}/node-addresses`, row.match)
    if (row.priority === aclPriority.nodes) return perFamily(`${subnet}/nodes`, row.match)
    if (row.priority !== aclPriority.privateAllow) return undefined
    const allowed = privateAllowMatch.exec(row.match)?.[1]
    return allowed === undefined ? perFamily(`${subnet}/own`, row.match) : `${subnet}/allow/${allowed}`
  },
})

/** A rule of a subnet's `spec.acls`. By subnet, direction, priority and match, as upstream tells them. */
export const subnetAcl = rowKind({
  name: 'acl-subnet',
  table: 'ACL',
  parent: ['Logical_Switch', 'acls'],
  identify: (row, ids, parent) => {
    const subnet = switchOfAcl(ids, parent)
    if (subnet === undefined || ids[externalId.subnet] !== subnet) return undefined
    return subnetAclId(subnet, row)
  },
})

/** How an ACL of a subnet's rules is told from the others on its switch. */
export function subnetAclId(subnet: string, acl: AclContent): string {
  return `${subnet}/${inItsTier(acl)}`
}

/** Addresses of an IPPool. */
export const ipPoolAddresses = rowKind({
  name: 'as-pool',
  table: 'Address_Set',
  identify: (_row, ids) => ids[externalId.ipPool],
})

/** Prefixes of all overlay subnets of a VPC, by VPC and family. */
export const overlayCidrs = rowKind({
  name: 'as-overlay',
  table: 'Address_Set',
  identify: (row, ids) => {
    const vpc = ids[externalId.vpc]
    if (vpc === undefined || ids[externalId.isOverlayCidrs] !== 'true') return undefined
    return `${vpc}/${row.name.endsWith('.ip6') ? 6 : 4}`
  },
})

/** The nodes' own addresses, for pods of an underlay subnet, by subnet and family. */
export const interconnectionNodes = rowKind({
  name: 'as-u2o',
  table: 'Address_Set',
  identify: (row, ids) => {
    const subnet = ids[externalId.subnet]
    if (subnet === undefined || ids[externalId.isU2ORoutePolicy] !== 'true') return undefined
    return `${subnet}/${row.name.endsWith('.ip6') ? 6 : 4}`
  },
})

/** The nodes' own addresses, by family. */
export const nodeAddressSet = rowKind({
  name: 'as-nodes',
  table: 'Address_Set',
  identify: ({ name }) => {
    const family = ([4, 6] as const).find((one) => name === nodeAddressSetName(one))
    return family === undefined ? undefined : `${family}`
  },
})

/** Ports that a NetworkPolicy is for, by the name of the group. */
export const networkPolicyPortGroup = rowKind({
  name: 'pg-np',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (row, ids) =>
    ids[externalId.networkPolicy] !== undefined &&
    ids[externalId.node] === undefined &&
    ids[externalId.subnet] === undefined
      ? row.name
      : undefined,
})

/** Addresses that a rule of a NetworkPolicy is about, by the name of the set. */
export const networkPolicyAddresses = rowKind({
  name: 'as-np',
  table: 'Address_Set',
  shared: ['addresses'],
  composed: ['addresses'],
  identify: (row, ids) =>
    /\/(ingress|egress)$/.test(ids[externalId.networkPolicy] ?? '') ? row.name : undefined,
})

/** A rule of a NetworkPolicy, by the name of its group, direction, priority and match. */
export const networkPolicyAcl = rowKind({
  name: 'acl-np',
  table: 'ACL',
  identify: (row, ids) => {
    const parent = ids[externalId.parent]
    if (parent === undefined || isSecurityGroupPortGroup(parent) || ids[externalId.subnet] !== undefined)
      return undefined
    const isRule = row.priority === aclPriority.policyAllow || row.priority === aclPriority.policyDeny
    const isPolicys =
      row.tier === aclTier.policy
        ? isRule
        : row.tier < aclTier.policy && row.priority === aclPriority.passedOn && row.action === 'pass'
    return isPolicys ? networkPolicyAclId(parent, row) : undefined
  },
})

/** What tells ACLs of a group or a switch from each other. */
type AclContent = Pick<OvnNorthbound['ACL'], 'tier' | 'priority' | 'match'> & { readonly direction: string }

/** How an ACL of a policy is told from the others of its group. */
export function networkPolicyAclId(group: string, acl: AclContent): string {
  return `${group}/${inItsTier(acl)}`
}

function inItsTier({ tier, direction, priority, match }: AclContent): string {
  return `${tier === aclTier.policy ? '' : `tier-${tier}/`}${direction}/${priority}/${match}`
}

const adminPolicyKeys = [externalId.adminPolicy, externalId.baselinePolicy, externalId.clusterPolicy] as const

/** Ports that a policy of an administrator is for, by the name of the group. */
export const adminPolicyPortGroup = rowKind({
  name: 'pg-admin',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (row, ids) => (adminPolicyKeys.some((key) => ids[key] !== undefined) ? row.name : undefined),
})

/** Addresses that a rule of such a policy is about, by the name of the set. */
export const adminPolicyAddresses = rowKind({
  name: 'as-admin',
  table: 'Address_Set',
  shared: ['addresses'],
  composed: ['addresses'],
  identify: (row, ids) =>
    adminPolicyKeys.some((key) => /\/(ingress|egress)$/.test(ids[key] ?? '')) ? row.name : undefined,
})

/** A rule of such a policy, by the name of its group, direction, tier, priority and match. */
export const adminPolicyAcl = rowKind({
  name: 'acl-admin',
  table: 'ACL',
  identify: (row, ids) => {
    const parent = ids[externalId.parent]
    if (parent === undefined || isSecurityGroupPortGroup(parent) || ids[externalId.subnet] !== undefined)
      return undefined
    const isRule =
      (row.tier === aclTier.admin || row.tier === aclTier.baseline) &&
      row.priority > aclPriority.adminPassedOn &&
      row.priority <= aclPriority.adminPolicies
    const isPassage = row.priority === aclPriority.adminPassedOn && row.action === 'pass'
    return isRule || isPassage ? groupAclId(parent, row) : undefined
  },
})

/** Ports of the pods of a namespace with an EgressFirewall, by the name of the group. */
export const firewallPortGroup = rowKind({
  name: 'pg-egress-firewall',
  table: 'Port_Group',
  shared: ['ports', 'acls'],
  identify: (row, ids) => (ids[externalId.egressFirewall] === undefined ? undefined : row.name),
})

/** Addresses of the nodes that a rule of it is about, and prefixes inside of the cluster, by the name of the set. */
export const firewallAddresses = rowKind({
  name: 'as-egress-firewall',
  table: 'Address_Set',
  identify: (row, ids) => (ids[externalId.egressFirewall] === undefined ? undefined : row.name),
})

/** A rule of it, by the name of its group, direction, tier, priority and match. */
export const firewallAcl = rowKind({
  name: 'acl-egress-firewall',
  table: 'ACL',
  identify(row, ids) {
    const namespace = ids[externalId.egressFirewall]
    return namespace === undefined ? undefined : groupAclId(firewallGroupName(namespace), row)
  },
})

/** "Between a node and its own pods": by the name of the node's group, direction, whether it is before administrators' policies, and match. */
export const ownNodeAcl = rowKind({
  name: 'acl-node',
  table: 'ACL',
  identify: (row, ids) => {
    const parent = ids[externalId.parent]
    if (parent === undefined || isSecurityGroupPortGroup(parent) || ids[externalId.subnet] !== undefined)
      return undefined
    const isBefore = row.priority === aclPriority.adminNodes && row.tier === aclTier.admin
    return isBefore || (row.priority === aclPriority.nodes && row.tier === aclTier.policy)
      ? ownNodeAclId(parent, row)
      : undefined
  },
})

/** How an ACL between a node and its own pods is told from the others of the node's group. */
export function ownNodeAclId(
  group: string,
  { direction, tier, match }: Pick<OvnNorthbound['ACL'], 'tier' | 'match'> & { readonly direction: string },
): string {
  return `${group}/${direction}/${tier === aclTier.admin ? 'admin/' : ''}${match}`
}

/** Bounds what is logged of a NetworkPolicy, by the name of the meter. */
export const networkPolicyMeter = rowKind({
  name: 'meter-np',
  table: 'Meter',
  shared: ['bands'],
  identify: ({ name }) => (/_(to|from)-lport_meter$/.test(name) ? name : undefined),
})

/** The rate of {@link networkPolicyMeter}, by the name of the meter. */
export const networkPolicyMeterBand = rowKind({
  name: 'meter-band-np',
  table: 'Meter_Band',
  parent: ['Meter', 'bands'],
  identify: (_row, _ids, parent) =>
    parent !== undefined && /_(to|from)-lport_meter$/.test(parent.name) ? parent.name : undefined,
})

/** Serves Services of a VPC, by its name. Those of OvnDnatRules have no say about local backends. */
export const loadBalancer = rowKind({
  name: 'lb',
  table: 'Load_Balancer',
  shared: ['vips', 'health_check', 'ip_port_mappings'],
  composed: ['vips', 'ip_port_mappings'],
  identify: (row) => (row.options[preferLocalOption] === undefined ? undefined : row.name),
})

/** Serves one Service, by a name with slashes, which no name of upstream's has. */
export const serviceBalancer = rowKind({
  name: 'lb-of',
  table: 'Load_Balancer',
  shared: ['vips', 'health_check', 'ip_port_mappings'],
  composed: ['vips', 'ip_port_mappings'],
  identify: (row) => (isServiceBalancerName(row.name) ? row.name : undefined),
})

/** The load balancers of all Services of a VPC, by its name. */
export const balancerGroup: RowKind<'Load_Balancer_Group'> = {
  name: 'lb-group',
  table: 'Load_Balancer_Group',
  shared: ['load_balancer'],
  exactMaps: [],
  isUnmarked: true,
  identify: ({ name }) => (isBalancerGroupName(name) ? name : undefined),
}

/** What is different on one chassis, by the name of the chassis: variables that load balancers refer to. */
export const chassisVariables = rowKind({
  name: 'chassis-vars',
  table: 'Chassis_Template_Var',
  shared: ['variables'],
  composed: ['variables'],
  identify: (row) => row.chassis,
})

/** How backends of an entry of a load balancer are asked whether they are well, by both names. Upstream leaves its vendor out. */
export const balancerHealthCheck: RowKind<'Load_Balancer_Health_Check'> = {
  name: 'lb-check',
  table: 'Load_Balancer_Health_Check',
  shared: [],
  exactMaps: [],
  parent: ['Load_Balancer', 'health_check'],
  identify: ({ vip, external_ids: ids }, parent) =>
    parent === undefined || ids[externalId.checkedSubnet] === undefined ? undefined : `${parent.name}/${vip}`,
}

/** How requests of a subnet's ports are answered by DHCP, by subnet and family. */
export const subnetDhcp = rowKind({
  name: 'dhcp-subnet',
  table: 'DHCP_Options',
  exactMaps: ['options'],
  identify: (_row, ids) =>
    ids[externalId.port] === undefined ? dhcpId(ids[externalId.logicalSwitch], ids) : undefined,
})

/** How requests of one port are answered by DHCP, by the name of the port and family. */
export const portDhcp = rowKind({
  name: 'dhcp-port',
  table: 'DHCP_Options',
  exactMaps: ['options'],
  identify: (_row, ids) => dhcpId(ids[externalId.port], ids),
})

function dhcpId(of: string | undefined, ids: Marks): string | undefined {
  const family = /^IPv([46])$/.exec(ids[externalId.protocol] ?? '')?.[1]
  return of === undefined || family === undefined ? undefined : `${of}/${family}`
}
