import type { Family } from '@kube-ovn/ip'
import {
  addressSet,
  and,
  anyIp,
  eq,
  group as grouped,
  header,
  ne,
  or,
  predicate,
  printMatch,
  type AddressField,
  type Match,
  type Transport,
} from '@kube-ovn/ovn-match'
import {
  aclName,
  aclPriority,
  aclTier,
  networkPolicyName,
  policyAddressSetName,
  policyMeterName,
  type AclDirection,
  type PolicyDirection,
} from '@kube-ovn/ovn-names'
import { dhcpTerms, everywhere, sides, trafficOf, uniqueAcls, unlogged, type PolicyAcl } from './acl.ts'
import { blockFlows, exceptionFlows, mostExceptionFlows, partsOf } from './address-parts.ts'
import { selectedPeers } from './flow-budget.ts'
import type { ParsedNetworkPolicy } from './network-policy.ts'
import { passageAcls } from './passages.ts'
import { portMatches } from './port-matches.ts'
import { blocksOf, type AddressBlock, type PolicyRule } from './rules.ts'

/** What is known of the world that a NetworkPolicy is in. */
export interface NetworkPolicyScene {
  readonly namespace: string
  readonly name: string
  /** Name of its port group. */
  readonly group: string
  /** Families of the addresses of the ports that it is for; none while it is for none. */
  readonly families: readonly Family[]
  readonly isLax: boolean
  /** All of ICMPv6 passes on the switches of its ports, as in the original; else what neighbours and routers are found by, at its ports. */
  readonly passesIcmpv6: boolean
  /** What it does not let in ends, also where it has let it in before; in the original every second packet of it passes. */
  readonly stopsOpenConnections: boolean
  /** Families in which any pod is a peer of a rule. */
  peerFamilies(direction: PolicyDirection, rule: number): readonly Family[]
  /** Numbers that pods have for a named port: those that the policy is for, or for egress the peers of the rule. */
  numbersOf(direction: PolicyDirection, rule: number, protocol: Transport, name: string): readonly number[]
}

/** An address set of a NetworkPolicy, with the addresses that are in it whoever its peers are. */
interface PolicyAddressSet {
  readonly name: string
  readonly direction: PolicyDirection
  readonly addresses: readonly string[]
}

interface PolicyMeter {
  readonly name: string
  /** Packets a second. */
  readonly rate: number
}

export interface NetworkPolicyRows {
  readonly acls: readonly PolicyAcl[]
  readonly sets: readonly PolicyAddressSet[]
  readonly meters: readonly PolicyMeter[]
}

/** Computes the rows of a NetworkPolicy. While it is for no port it has none. */
export function networkPolicyRows(policy: ParsedNetworkPolicy, scene: NetworkPolicyScene): NetworkPolicyRows {
  if (scene.families.length === 0) return { acls: [], sets: [], meters: [] }
  const directions = (['ingress', 'egress'] as const).map((direction) =>
    directionRows(policy, scene, direction),
  )
  const gateway = !scene.isLax && scene.families.includes(6) ? neighbourDiscovery(scene) : []
  const { rate } = policy.log
  const acls = uniqueAcls(directions.flatMap(({ acls }) => acls))
  return {
    acls: [...acls, ...gateway, ...(scene.stopsOpenConnections ? passageAcls(scene.group, acls) : [])],
    sets: directions.flatMap(({ sets }) => sets),
    meters:
      rate === undefined
        ? []
        : [...new Set(acls.flatMap(({ meter }) => meter ?? []))].map((name) => ({ name, rate })),
  }
}

/** Solicitations and advertisements of routers and neighbours; whoever is no neighbour can not send them (RFC 4861). */
const discovery = and(
  header('icmp6.type', 133, 134, 135, 136),
  header('icmp6.code', 0),
  header('ip.ttl', 255),
)

/** IPv6 finds neighbours and gateways by what the deny of all IP would drop; ARP is no IP. */
function neighbourDiscovery({ group, passesIcmpv6 }: NetworkPolicyScene): readonly PolicyAcl[] {
  return (['egress', 'ingress'] as const).map((direction) => ({
    ...(passesIcmpv6
      ? { direction: sides[direction].acl, match: printMatch(predicate('icmp6')) }
      : trafficOf(group, direction, discovery)),
    ...{ tier: aclTier.policy, priority: aclPriority.policyAllow, action: 'allow-stateless' as const },
    ...{ ...unlogged, isAfterBalancing: direction === 'egress' },
  }))
}

function directionRows(
  policy: ParsedNetworkPolicy,
  scene: NetworkPolicyScene,
  direction: PolicyDirection,
): Pick<NetworkPolicyRows, 'acls' | 'sets'> {
  const rules = policy.rules[direction]
  if (rules === undefined) return { acls: [], sets: [] }
  const own = [denial(policy, scene, direction), ...(scene.isLax ? dhcp(scene, direction) : [])]
  // Without a rule there is one that nobody meets, as the original has it.
  const parts =
    rules.length === 0
      ? scene.families.map((family) => selectorRows(policy, scene, { direction, family, rule: 'all' }, []))
      : rules.flatMap((rule, place) => ruleRows(policy, scene, direction, rule, place))
  return {
    acls: [...own, ...parts.flatMap(({ acls }) => acls)],
    sets: parts.flatMap(({ sets }) => sets),
  }
}

function denial(
  policy: ParsedNetworkPolicy,
  scene: NetworkPolicyScene,
  direction: PolicyDirection,
): PolicyAcl {
  const transports = or(predicate('tcp'), predicate('udp'), predicate('sctp'))
  const { isOn } = policy.log
  const { acl } = sides[direction]
  return {
    ...trafficOf(scene.group, direction, scene.isLax ? transports : anyIp),
    ...{ tier: aclTier.policy, priority: aclPriority.policyDeny, action: 'drop' },
    isAfterBalancing: direction === 'egress',
    name: aclName(`${scene.namespace}/${scene.name}`),
    isLogged: isOn,
    severity: isOn ? 'warning' : undefined,
    meter: isOn ? meterOf(policy, scene, acl) : undefined,
  }
}

function dhcp(
  { group, namespace, name }: NetworkPolicyScene,
  direction: PolicyDirection,
): readonly PolicyAcl[] {
  return dhcpTerms(direction).map((terms) => ({
    ...trafficOf(group, direction, ...terms),
    ...{ tier: aclTier.policy, priority: aclPriority.policyAllow, action: 'allow-related' as const },
    ...{ ...unlogged, name: aclName(`${namespace}/${name}`), isAfterBalancing: direction === 'egress' },
  }))
}

interface Place {
  readonly direction: PolicyDirection
  readonly family: Family
  readonly rule: number | 'all'
}

type Part = Pick<NetworkPolicyRows, 'acls' | 'sets'>

function ruleRows(
  policy: ParsedNetworkPolicy,
  scene: NetworkPolicyScene,
  direction: PolicyDirection,
  rule: PolicyRule,
  place: number,
): readonly Part[] {
  const portsFor = (count: number): readonly (Match | undefined)[] =>
    portMatches(rule, (protocol, name) => scene.numbersOf(direction, place, protocol, name), count)
  const peers = scene.peerFamilies(direction, place)
  return scene.families.flatMap((family) => {
    const at = { direction, family, rule: place }
    const hasPeers = rule.peers === undefined || (rule.peers.pods.length > 0 && peers.includes(family))
    const all = rule.peers === undefined ? [everywhere[family]] : []
    const blocks = blocksOf(rule, family)
    const selected = rule.peers === undefined ? 1 : selectedPeers
    const inBlocks = blocks.reduce((sum, block) => sum + blockFlows(block), 0)
    return [
      selectorRows(policy, scene, at, all, hasPeers ? portsFor(selected) : []),
      ...(blocks.length === 0 ? [] : [blockRows(policy, scene, at, blocks, portsFor(inBlocks))]),
    ]
  })
}

function selectorRows(
  policy: ParsedNetworkPolicy,
  scene: NetworkPolicyScene,
  { direction, family, rule }: Place,
  addresses: readonly string[],
  ports: readonly (Match | undefined)[] = [undefined],
): Part {
  const allow = policyAddressSetName(scene.group, direction, 'allow', family, rule)
  const except = policyAddressSetName(scene.group, direction, 'except', family, rule)
  const field = `ip${family}.${sides[direction].peer}` as const
  const peers = and(eq(field, addressSet(allow)), ne(field, addressSet(except)))
  return {
    sets: [
      { name: allow, direction, addresses },
      // Nothing is ever in it; the original's matches name it.
      { name: except, direction, addresses: [] },
    ],
    acls: ports.map((port) => allowance(policy, scene, direction, `IPv${family}/${rule}`, peers, port)),
  }
}

function blockRows(
  policy: ParsedNetworkPolicy,
  scene: NetworkPolicyScene,
  { direction, family, rule }: Place,
  blocks: readonly AddressBlock[],
  ports: readonly (Match | undefined)[],
): Part {
  const field = `ip${family}.${sides[direction].peer}` as const
  const [first, ...more] = blocks.flatMap((block) => blockMatches(field, block))
  if (first === undefined) return { acls: [], sets: [] }
  const peers = grouped(or(first, ...more))
  const label = `IPv${family}/${rule}/ipBlock`
  return {
    sets: [],
    acls: ports.map((port) => allowance(policy, scene, direction, label, peers, port)),
  }
}

/** The original's form, as long as its rules do not multiply; else the prefixes that the exceptions leave. */
function blockMatches(field: AddressField, block: AddressBlock): readonly Match[] {
  const { prefix, except } = block
  if (except.length === 0) return [eq(field, prefix)]
  if (exceptionFlows(block) <= mostExceptionFlows) return [and(eq(field, prefix), ne(field, except))]
  const [first, ...more] = partsOf(block) ?? []
  return first === undefined ? [] : [eq(field, [first, ...more])]
}

function allowance(
  policy: ParsedNetworkPolicy,
  scene: NetworkPolicyScene,
  direction: PolicyDirection,
  label: string,
  peers: Match,
  port: Match | undefined,
): PolicyAcl {
  const { acl } = sides[direction]
  const isLogged = policy.log.isOn && policy.log.logsAllowed
  return {
    ...trafficOf(scene.group, direction, anyIp, peers, ...(port === undefined ? [] : [port])),
    ...{ tier: aclTier.policy, priority: aclPriority.policyAllow, action: 'allow-related' },
    isAfterBalancing: direction === 'egress',
    name: aclName(`np/${networkPolicyName(scene.name)}.${scene.namespace}/${direction}/${label}`),
    isLogged,
    severity: undefined,
    meter: isLogged ? meterOf(policy, scene, acl) : undefined,
  }
}

function meterOf(
  { log }: ParsedNetworkPolicy,
  { group }: NetworkPolicyScene,
  direction: AclDirection,
): string | undefined {
  return log.isOn && log.rate !== undefined ? policyMeterName(group, direction) : undefined
}
