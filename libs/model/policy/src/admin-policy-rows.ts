import type { Family } from '@kube-ovn/ip'
import { networkText } from '@kube-ovn/ip'
import { addressSet, anyIp, eq, type Match, type Transport } from '@kube-ovn/ovn-match'
import {
  aclName,
  aclPriority,
  adminPolicyAddressSetName,
  adminPolicyName,
  type AdminPolicyKind,
  type PolicyDirection,
} from '@kube-ovn/ovn-names'
import { everywhere, sides, trafficOf, uniqueAcls, type PolicyAcl } from './acl.ts'
import type { AdminPlace, AdminRule, ParsedAdminPolicy } from './admin-policy.ts'
import { selectedPeers } from './flow-budget.ts'
import { passageAcls } from './passages.ts'
import { portMatches } from './port-matches.ts'

/** What is known of the world that a policy of an administrator is in. */
export interface AdminPolicyScene {
  readonly kind: AdminPolicyKind
  readonly name: string
  /** Name of its port group. */
  readonly group: string
  /** Families of the addresses of the ports that it is for; none while it is for none. */
  readonly families: readonly Family[]
  /** Where its rules stand; less has room there where others have the same priority. */
  readonly place: AdminPlace
  /** As in a NetworkPolicy's. */
  readonly stopsOpenConnections: boolean
  /** Addresses of the nodes and DNS names that a rule is about. */
  addressesOf(direction: PolicyDirection, rule: number): readonly string[]
  /** As in a NetworkPolicy's. */
  numbersOf(direction: PolicyDirection, rule: number, protocol: Transport, name: string): readonly number[]
}

interface AdminPolicySet {
  readonly name: string
  readonly direction: PolicyDirection
  /** Those that are in it whichever pods there are. */
  readonly addresses: readonly string[]
}

export interface AdminPolicyRows {
  readonly acls: readonly PolicyAcl[]
  readonly sets: readonly AdminPolicySet[]
}

const families = [4, 6] as const

/**
 * Computes the rows of a policy of an administrator. A rule has its ACLs as long as the policy is for any port, whether or not it is about
 * anybody yet: a pod that comes joins a set, and nothing else.
 */
export function adminPolicyRows(policy: ParsedAdminPolicy, scene: AdminPolicyScene): AdminPolicyRows {
  const parts = (['ingress', 'egress'] as const).flatMap((direction) =>
    policy.rules[direction].flatMap((rule, at) =>
      families.map((family) => ruleRows(policy, scene, { rule, direction, at, family })),
    ),
  )
  const acls = uniqueAcls(parts.flatMap((part) => part.acls))
  return {
    acls: [
      ...acls,
      ...(scene.stopsOpenConnections ? passageAcls(scene.group, acls, aclPriority.adminPassedOn) : []),
    ],
    sets: parts.map(({ set }) => set),
  }
}

interface Place {
  readonly rule: AdminRule
  readonly direction: PolicyDirection
  readonly at: number
  readonly family: Family
}

function ruleRows(
  policy: ParsedAdminPolicy,
  scene: AdminPolicyScene,
  place: Place,
): { readonly acls: readonly PolicyAcl[]; readonly set: AdminPolicySet } {
  const { rule, direction, at, family } = place
  const name = adminPolicyAddressSetName(scene.group, direction, at, rule.name, family)
  const networks = rule.peers.networks.filter((one) => one.family === family)
  const others = scene.addressesOf(direction, at).filter((one) => one.includes(':') === (family === 6))
  const addresses = rule.peers.isAll
    ? [everywhere[family]]
    : [...new Set([...networks.map((one) => networkText(one)), ...others])]
  const { pods, nodes, names } = rule.peers
  const hasAny = pods.length + nodes.length + names.length > 0 || addresses.length > 0
  const set = { name, direction, addresses }
  if (!hasAny || !scene.families.includes(family) || !isInEffect(policy, scene, place))
    return { acls: [], set }
  const selections = pods.length + nodes.length + names.length > 0 ? selectedPeers : 0
  const ports = portMatches(
    rule,
    (protocol, port) => scene.numbersOf(direction, at, protocol, port),
    rule.peers.isAll ? 1 : networks.length + selections,
  )
  const peers = eq(`ip${family}.${sides[direction].peer}`, addressSet(name))
  return { set, acls: ports.map((port) => acl(policy, scene, place, peers, port)) }
}

/** What has no priority of its own denies at least. */
function isInEffect(
  { deniesOnly }: ParsedAdminPolicy,
  { place }: AdminPolicyScene,
  { rule, at }: Place,
): boolean {
  return rule.action === 'drop' || (!deniesOnly && at < place.rules)
}

function acl(
  { logged }: ParsedAdminPolicy,
  { kind, name, group, place }: AdminPolicyScene,
  { rule, direction, at, family }: Place,
  peers: Match,
  port: Match | undefined,
): PolicyAcl {
  const isLogged = logged.includes(rule.action)
  return {
    ...trafficOf(group, direction, anyIp, peers, ...(port === undefined ? [] : [port])),
    tier: place.tier,
    priority: place.first - Math.min(at, place.rules),
    action: rule.action,
    name: aclName(`${kind}/${adminPolicyName(kind, name)}/${direction}/IPv${family}/${at}`),
    isLogged,
    severity: isLogged && rule.action === 'drop' ? 'warning' : undefined,
    meter: undefined,
    isAfterBalancing: true,
  }
}
