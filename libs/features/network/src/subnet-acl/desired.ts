import { networkText } from '@kube-ovn/ip'
import {
  and,
  anyIp,
  ipDestination,
  ipSource,
  ipSourceSet,
  or,
  printMatch,
  type Match,
} from '@kube-ovn/ovn-match'
import {
  aclName,
  aclPriority,
  aclTier,
  externalId,
  logicalSwitch,
  nodeAddressSetName,
  privateSubnetAcl,
  subnetAcl,
  subnetAclId,
} from '@kube-ovn/ovn-names'
import { passagesBefore } from '@kube-ovn/policy'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { ruleKey, type AclRule } from '@kube-ovn/domains-control/topology'
import type { AclSnapshot, FamilyPrefixes } from './snapshot.ts'

/**
 * Computes the ACLs on a subnet's switch.
 *
 * Each row is named by what it is about, so an edit changes the rows that differ, in one transaction: what it does not forbid goes on.
 *
 * @see ovn-nb(5), ACL
 */
export function desiredAcls(acls: AclSnapshot): Desired {
  const rows = [...(acls.isPrivate ? privateRows(acls) : []), ...ruleRows(acls), ...passageRows(acls)]
  return {
    ...nothing,
    rows,
    members: rows.map(({ kind, id }) => memberOf(ref(logicalSwitch, acls.subnet), 'acls', ref(kind, id))),
  }
}

/** Drops what comes in, but from the subnet itself, the nodes and what it allows. */
function privateRows({ subnet, families, isReachedByNodes }: AclSnapshot): readonly OwnedRow[] {
  const row = (id: string, columns: OwnedRow['columns']): OwnedRow => ({
    kind: privateSubnetAcl,
    id: `${subnet}/${id}`,
    columns: {
      direction: 'to-lport',
      tier: aclTier.policy,
      ...columns,
      external_ids: externalIds({ [externalId.parent]: subnet }),
    },
  })
  const allow = (id: string, priority: number, match: Match): OwnedRow =>
    row(id, { priority, match: printMatch(match), action: 'allow-related' })
  const rows = new Map<string, OwnedRow>()
  const add = (made: OwnedRow): void => void rows.set(made.id, made)
  add(
    row('drop', {
      priority: aclPriority.privateDrop,
      match: printMatch(anyIp),
      action: 'drop',
      name: aclName(subnet),
      log: true,
      severity: 'warning',
    }),
  )
  for (const { family, cidr, nodes, allowed } of families) {
    add(allow(`own/${family}`, aclPriority.privateAllow, inside(cidr)))
    if (nodes !== undefined) add(allow(`nodes/${family}`, aclPriority.nodes, ipSource(nodes)))
    // What a node sends to pods has its own address as the source, not that of its ovn0. NetworkPolicies keep off other nodes than a pod's own.
    if (isReachedByNodes) {
      const nodeAddresses = ipSourceSet(family, nodeAddressSetName(family))
      add(allow(`node-addresses/${family}`, aclPriority.privateAllow, nodeAddresses))
    }
    for (const prefix of allowed.map(networkText))
      add(allow(`allow/${prefix}`, aclPriority.privateAllow, between(cidr, prefix)))
  }
  return [...rows.values()]
}

function inside(cidr: string): Match {
  return and(ipSource(cidr), ipDestination(cidr))
}

function between(one: string, other: string): Match {
  return or(and(ipSource(one), ipDestination(other)), and(ipSource(other), ipDestination(one)))
}

/** What the user wrote, and what `allowEWTraffic` adds where the user wrote nothing of the kind. */
function ruleRows({ subnet, rules, allowsInside, families }: AclSnapshot): readonly OwnedRow[] {
  const all = new Map(rules.map((rule) => [ruleKey(rule), rule]))
  const further = allowsInside && rules.length > 0 ? families.flatMap(eastWestRules) : []
  for (const rule of further) all.getOrInsert(ruleKey(rule), rule)
  return [...all.values()].map((rule) => ruleRow(subnet, { ...rule, tier: aclTier.policy }))
}

function ruleRow(subnet: string, acl: AclRule & { readonly tier: number }): OwnedRow {
  return {
    kind: subnetAcl,
    id: subnetAclId(subnet, acl),
    columns: {
      ...acl,
      external_ids: externalIds({ [externalId.parent]: subnet, [externalId.subnet]: subnet }),
    },
  }
}

/** Of a connection that is open, too, OVN asks the rules that stop packets only if it is passed on to them. */
function passageRows({ subnet, isPrivate, rules, stopsOpenConnections }: AclSnapshot): readonly OwnedRow[] {
  if (!stopsOpenConnections) return []
  const tier = aclTier.policy
  const stops = [
    ...(isPrivate ? [{ direction: 'to-lport' as const, action: 'drop', tier }] : []),
    ...rules.map(({ direction, action }) => ({ direction, action, tier })),
  ]
  return passagesBefore(stops).map((passage) =>
    ruleRow(subnet, { ...passage, priority: aclPriority.passedOn, match: printMatch(anyIp), action: 'pass' }),
  )
}

function eastWestRules({ cidr }: FamilyPrefixes): readonly AclRule[] {
  return (['to-lport', 'from-lport'] as const).map((direction) => ({
    direction,
    priority: aclPriority.eastWest,
    match: printMatch(inside(cidr)),
    action: 'allow',
  }))
}
