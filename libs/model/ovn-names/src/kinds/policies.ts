import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { externalId } from '../external-ids.ts'
import { aclPriority, aclTier } from '../priorities.ts'
import {
  baselineSecurityGroup,
  denyAllSecurityGroup,
  firewallGroupName,
  isSecurityGroupPortGroup,
  privateSubnetMeterEnd,
  securityGroupPortGroupName,
} from '../names.ts'
import type { ParentRow } from '../row-kind.ts'
import { rowKind, perFamily, type Marks } from './declare.ts'

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

/** Bounds what is logged of what a private subnet drops. By subnet, as the ACL is. */
export const privateSubnetMeter = rowKind({
  name: 'meter-private',
  table: 'Meter',
  shared: ['bands'],
  identify: ({ name }) => droppedIn(name),
})

/** The rate of {@link privateSubnetMeter}, by subnet as well. */
export const privateSubnetMeterBand = rowKind({
  name: 'meter-band-private',
  table: 'Meter_Band',
  parent: ['Meter', 'bands'],
  identify: (_row, _ids, parent) => (parent === undefined ? undefined : droppedIn(parent.name)),
})

function droppedIn(meter: string): string | undefined {
  return meter.endsWith(privateSubnetMeterEnd)
    ? `${meter.slice(0, -privateSubnetMeterEnd.length)}/drop`
    : undefined
}

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

/** Addresses of the nodes or the DNS name that a rule of it is about, and prefixes inside of the cluster, by the name of the set. */
export const firewallAddresses = rowKind({
  name: 'as-egress-firewall',
  table: 'Address_Set',
  shared: ['addresses'],
  composed: ['addresses'],
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

/** Bounds what is logged of it, by the name of the meter. */
export const firewallMeter = rowKind({
  name: 'meter-egress-firewall',
  table: 'Meter',
  shared: ['bands'],
  identify: ({ name }) => (isFirewallMeter(name) ? name : undefined),
})

/** The rate of {@link firewallMeter}, by the name of the meter. */
export const firewallMeterBand = rowKind({
  name: 'meter-band-egress-firewall',
  table: 'Meter_Band',
  parent: ['Meter', 'bands'],
  identify: (_row, _ids, parent) =>
    parent !== undefined && isFirewallMeter(parent.name) ? parent.name : undefined,
})

/** Names of policies and subnets have no underscore. */
function isFirewallMeter(name: string): boolean {
  return /^egress_firewall\..*_meter$/.test(name)
}

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
