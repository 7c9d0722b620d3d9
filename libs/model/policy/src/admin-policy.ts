import { networkPolicyAnnotations } from '@kube-ovn/annotations'
import { refusalOf, type KubeOvnError } from '@kube-ovn/errors'
import { parseCidr, type Cidr } from '@kube-ovn/ip'
import type {
  AdminNetworkPolicy,
  AdminPolicyPeer,
  AdminPolicyPort,
  AdminPolicyProtocol,
  AdminPolicyRule,
  AdminPolicySubject,
} from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/label-selector'
import type { Transport } from '@kube-ovn/ovn-match'
import { aclPriority, aclTier, type AdminPolicyKind, type PolicyDirection } from '@kube-ovn/ovn-names'
import { readDomainName, type NameService } from './domain-name.ts'
import { PolicyInvalidError } from './errors.ts'
import { adminPolicyFields, isKnown } from './known-fields.ts'
import { isPort, transportOf } from './ports.ts'
import type { PodSelection, PolicyPort } from './rules.ts'
import { notingProblems, type Tried } from './tried.ts'
import { readSelector, type SelectorContext } from './unchecked-selector.ts'

/** What a rule does with the traffic that it is about; what is passed on is for the next tier to decide. */
export type AdminAction = 'allow-related' | 'drop' | 'pass'

/** A rule of an administrator's policy, read. */
export interface AdminRule {
  /** Any text, mostly none. */
  readonly name: string
  readonly action: AdminAction
  readonly peers: {
    /** It is about everybody, whoever else is named. */
    readonly isAll: boolean
    readonly pods: readonly PodSelection[]
    readonly nodes: readonly LabelSelector[]
    readonly networks: readonly Cidr[]
    /** DNS names as resolvers have them. */
    readonly names: readonly string[]
  }
  /** Absent where it is about all ports and protocols. */
  readonly ports: readonly PolicyPort[] | undefined
}

/** Where the rules of a policy stand among all of their tier. */
export interface AdminPlace {
  readonly tier: number
  /** Priority of an ACL of the first rule; that of each further one is one less. */
  readonly first: number
  /** As many rules have a priority of their own; the others share the one behind these. */
  readonly rules: number
}

/** What a policy of an administrator says, read once. */
export interface ParsedAdminPolicy {
  /** Which pods it is for; none where it can not be read. */
  readonly subject: PodSelection | undefined
  readonly place: AdminPlace
  /** It has a priority that there is. */
  readonly isPlaced: boolean
  /** Only what it denies is in effect: it has no priority that there is, or says of all that it says something that is not known. */
  readonly deniesOnly: boolean
  readonly rules: Readonly<Record<PolicyDirection, readonly AdminRule[]>>
  /** Actions that are logged. */
  readonly logged: readonly AdminAction[]
  /** Parts that have no effect. None of them allows more than the policy says. */
  readonly problems: readonly KubeOvnError[]
}

/** How priorities of a kind become those of ACLs: each has room for as many rules as the API lets a policy have. */
const rooms = {
  anp: { highest: 99, rules: 100 },
  cnp: { highest: 399, rules: 25 },
} as const

/** As many rules a BaselineAdminNetworkPolicy may have. */
const mostBaselineRules = 100

/**
 * Reads a policy of an administrator.
 *
 * What can not be read fails closed, as the API asks for: of what is allowed it is nothing, else the rule denies everything. A DNS name that
 * can not be followed is none of both: what it stands for is not known, neither to allow it nor to deny it.
 *
 * @see https://network-policy-api.sigs.k8s.io/api-overview/
 */
export function parseAdminPolicy(
  kind: AdminPolicyKind,
  { metadata, spec = {} }: Pick<AdminNetworkPolicy, 'metadata' | 'spec'>,
  { followsNames }: NameService = { followsNames: false },
): ParsedAdminPolicy {
  const problems: KubeOvnError[] = []
  const tried = notingProblems(problems)
  const read = (direction: PolicyDirection): readonly AdminRule[] =>
    listOf(spec[direction]).map((rule, at) =>
      readRule(rule, `spec.${direction}[${at}]`, { kind, direction, followsNames, tried }),
    )
  const isSpecKnown = isKnown(spec, adminPolicyFields.spec, {
    ...{ field: 'spec', tried },
    until: 'until then only what it denies is in effect',
  })
  const tier = tried(() => tierOf(kind, spec.tier)) ?? aclTier.admin
  const place = tried(() => placeOf(kind, tier, spec.priority))
  return {
    subject: readSubject(spec.subject, tried),
    place: place ?? lastPlace(kind, tier),
    isPlaced: place !== undefined,
    deniesOnly: place === undefined || !isSpecKnown,
    rules: { ingress: read('ingress'), egress: read('egress') },
    logged: (tried(() => networkPolicyAnnotations.logActions.read(metadata.annotations)) ?? []).flatMap(
      (word) => (Object.hasOwn(loggedActions, word) ? (loggedActions[word] ?? []) : []),
    ),
    problems,
  }
}

/** Upstream compares the words with those of OVN; its own page has the short one. */
const loggedActions: Readonly<Record<string, AdminAction | undefined>> = {
  allow: 'allow-related',
  'allow-related': 'allow-related',
  drop: 'drop',
  pass: 'pass',
}

function tierOf(kind: AdminPolicyKind, tier: string | undefined): number {
  if (kind === 'anp' || (kind === 'cnp' && tier === 'Admin')) return aclTier.admin
  if (kind === 'banp' || tier === 'Baseline') return aclTier.baseline
  const cure = 'write Admin or Baseline; until then it is as if it were Admin'
  throw new PolicyInvalidError({ field: 'spec.tier', value: tier ?? '', cure })
}

function placeOf(kind: AdminPolicyKind, tier: number, priority = -1): AdminPlace {
  if (kind === 'banp') return { tier, first: aclPriority.baselinePolicy, rules: mostBaselineRules }
  const { highest, rules } = rooms[kind]
  if (Number.isInteger(priority) && priority >= 0 && priority <= highest)
    return { tier, first: aclPriority.adminPolicies - rules * priority, rules }
  const cure = `write a number from 0 to ${highest}; until then only what it denies is in effect, behind all others`
  throw new PolicyInvalidError({ field: 'spec.priority', value: String(priority), cure })
}

/** Behind those of all priorities that there are. */
function lastPlace(kind: AdminPolicyKind, tier: number): AdminPlace {
  const { highest, rules } = rooms[kind === 'cnp' ? 'cnp' : 'anp']
  return { tier, first: aclPriority.adminPolicies - rules * (highest + 1), rules }
}

function readSubject(subject: AdminPolicySubject | undefined, tried: Tried): PodSelection | undefined {
  const until = 'until then it is for no pod'
  if (subject !== undefined && isOfPods(subject)) return readPods(subject, 'spec.subject', { tried, until })
  const cure = `write either namespaces or pods; ${until}`
  return tried(() => refuse('spec.subject', Object.keys(subject ?? {}).join(), cure))
}

/** It says in one way which pods are meant. */
function isOfPods({ namespaces, pods }: AdminPolicySubject): boolean {
  return isThere(namespaces) !== isThere(pods)
}

/** `undefined` where a selector can not be read: its definition knows texts and no operators. */
function readPods(
  { namespaces, pods }: AdminPolicySubject,
  field: string,
  about: SelectorContext,
): PodSelection | undefined {
  const { podSelector = {}, namespaceSelector = {} } = pods ?? {}
  const [own, around] = isThere(namespaces)
    ? [{}, readSelector(namespaces, `${field}.namespaces`, about)]
    : [
        readSelector(podSelector, `${field}.pods.podSelector`, about),
        readSelector(namespaceSelector, `${field}.pods.namespaceSelector`, about),
      ]
  return own === undefined || around === undefined ? undefined : { pods: own, namespaces: around }
}

interface RuleContext extends NameService {
  readonly kind: AdminPolicyKind
  readonly direction: PolicyDirection
  readonly tried: Tried
}

function readRule(rule: AdminPolicyRule, field: string, context: RuleContext): AdminRule {
  const { kind, direction, followsNames, tried } = context
  const action = tried(() => readAction(kind, rule.action, field)) ?? 'drop'
  const until =
    action === 'allow-related' ? 'until then it allows nothing' : 'until then the rule denies everything'
  const name = typeof rule?.name === 'string' ? rule.name : ''
  if (!isKnown(rule, adminPolicyFields[direction], { field, until, tried })) return unreadRule(name, action)
  const side = direction === 'ingress' ? 'from' : 'to'
  const given = listOf(rule[side])
  const peers = given.map((peer, at) =>
    tried(() => readPeer(peer, `${field}.${side}[${at}]`, context, until)),
  )
  // Names that can not be used take nothing from the others.
  const names = given.flatMap((peer, at) =>
    knowsNames(context)
      ? listOf(peer?.domainNames).flatMap((name, which) => {
          const place = `${field}.${side}[${at}].domainNames[${which}]`
          const about = { field: place, until: 'until then the rule is not about it', followsNames }
          return tried(() => readDomainName(name, about)) ?? []
        })
      : [],
  )
  if (given.length === 0) tried(() => refuse(`${field}.${side}`, '', `write at least one; ${until}`))
  const ports = portsOf(rule, field, until).map((read) => tried(read))
  const known = peers.flatMap((peer) => peer ?? [])
  const fails = {
    peers: action !== 'allow-related' && known.length < Math.max(given.length, 1),
    ports: action !== 'allow-related' && ports.includes(undefined),
  }
  return {
    name,
    action: fails.peers || fails.ports ? 'drop' : action,
    peers: {
      isAll: fails.peers,
      pods: known.flatMap(({ pods }) => pods),
      nodes: known.flatMap(({ nodes }) => nodes),
      networks: known.flatMap(({ networks }) => networks),
      names: [...new Set(names)],
    },
    ports: ports.length === 0 || fails.ports ? undefined : ports.flatMap((port) => port ?? []),
  }
}

/** Of what is allowed it is nothing, else everything is denied. */
function unreadRule(name: string, action: AdminAction): AdminRule {
  const isAllowing = action === 'allow-related'
  return {
    ...{ name, action: isAllowing ? action : 'drop', ports: undefined },
    peers: { isAll: !isAllowing, pods: [], nodes: [], networks: [], names: [] },
  }
}

function readAction(kind: AdminPolicyKind, action: string | undefined, field: string): AdminAction {
  const allow = kind === 'cnp' ? 'Accept' : 'Allow'
  if (action === allow) return 'allow-related'
  if (action === 'Deny') return 'drop'
  if (action === 'Pass' && kind !== 'banp') return 'pass'
  const cure = kind === 'banp' ? 'write Allow or Deny' : `write ${allow}, Deny or Pass`
  return refuse(`${field}.action`, action ?? '', `${cure}; until then it denies`)
}

/** Whether rules may name DNS names, as far as the API knows. */
function knowsNames({ kind, direction }: Pick<RuleContext, 'kind' | 'direction'>): boolean {
  return kind !== 'banp' && direction === 'egress'
}

function refuse(field: string, value: string, cure: string): never {
  throw new PolicyInvalidError({ field, value, cure })
}

type Peer = Omit<AdminRule['peers'], 'isAll' | 'names'>

/** `undefined` where a selector in it can not be read, which is told. */
function readPeer(
  peer: AdminPolicyPeer | null,
  field: string,
  context: RuleContext,
  until: string,
): Peer | undefined {
  const { nodes, networks, domainNames, ...subject } = peer ?? {}
  const none: Peer = { pods: [], nodes: [], networks: [] }
  const fields = Object.keys(peer ?? {})
  const isEgress = context.direction === 'egress'
  if (fields.length === 1) {
    const about = { tried: context.tried, until }
    if (isOfPods(subject)) {
      const pods = readPods(subject, field, about)
      return pods && { ...none, pods: [pods] }
    }
    if (isEgress && isThere(nodes)) {
      const selector = readSelector(nodes, `${field}.nodes`, about)
      return selector && { ...none, nodes: [selector] }
    }
    if (isEgress && Array.isArray(networks))
      return { ...none, networks: readNetworks(networks, field, until) }
    if (knowsNames(context) && Array.isArray(domainNames)) return none
  }
  const others = knowsNames(context) ? 'nodes, networks or domainNames' : 'nodes or networks'
  const known = isEgress ? `namespaces, pods, ${others}` : 'namespaces or pods'
  return refuse(field, fields.join(), `write one of ${known}; ${until}`)
}

function readNetworks(networks: readonly string[], field: string, until: string): readonly Cidr[] {
  return networks.map((text, at) => {
    try {
      return parseCidr(text)
    } catch (error) {
      const { cure } = refusalOf(error)
      throw new PolicyInvalidError(
        { field: `${field}.networks[${at}]`, value: text, cure: `${cure}; ${until}` },
        { cause: error },
      )
    }
  })
}

/** Gives what reads each port of a rule, which may be more than one for each that is written: a name has no protocol. */
function portsOf(rule: AdminPolicyRule, field: string, until: string): readonly (() => PolicyPort)[] {
  return [
    ...listOf(rule.ports).flatMap((port, at) => readPort(port, `${field}.ports[${at}]`, until)),
    ...listOf(rule.protocols).flatMap((one, at) => readProtocol(one, `${field}.protocols[${at}]`, until)),
  ]
}

function readPort(port: AdminPolicyPort | null, field: string, until: string): readonly (() => PolicyPort)[] {
  const { portNumber, portRange, namedPort } = port ?? {}
  if (typeof namedPort === 'string') return namedPorts(namedPort)
  if (isThere(portNumber)) {
    const { protocol = 'TCP', port: number } = portNumber
    return [() => numbered(protocol, number, number, `${field}.portNumber`, until)]
  }
  if (isThere(portRange)) {
    const { protocol = 'TCP', start, end } = portRange
    return [() => numbered(protocol, start, end, `${field}.portRange`, until)]
  }
  return [
    () => refuse(field, Object.keys(port ?? {}).join(), `write portNumber, portRange or namedPort; ${until}`),
  ]
}

function readProtocol(
  one: AdminPolicyProtocol | null,
  field: string,
  until: string,
): readonly (() => PolicyPort)[] {
  const { destinationNamedPort, ...matches } = one ?? {}
  if (typeof destinationNamedPort === 'string') return namedPorts(destinationNamedPort)
  for (const protocol of ['tcp', 'udp', 'sctp'] as const) {
    const { number, range } = matches[protocol]?.destinationPort ?? {}
    const [from, to] = isThere(range) ? [range.start, range.end] : [number, number]
    if (from !== undefined)
      return [() => numbered(protocol.toUpperCase(), from, to, `${field}.${protocol}.destinationPort`, until)]
  }
  const cure = `write the destinationPort of tcp, udp or sctp, or destinationNamedPort; ${until}`
  return [() => refuse(field, Object.keys(one ?? {}).join(), cure)]
}

function namedPorts(name: string): readonly (() => PolicyPort)[] {
  return (['tcp', 'udp', 'sctp'] as const).map((protocol: Transport) => () => ({
    kind: 'named',
    protocol,
    name,
  }))
}

function numbered(
  protocol: string,
  from: number | undefined,
  to: number | undefined,
  field: string,
  until: string,
): PolicyPort {
  const transport = transportOf(protocol)
  if (transport === undefined)
    return refuse(`${field}.protocol`, protocol, `write TCP, UDP or SCTP; ${until}`)
  if (isPort(from) && isPort(to) && from <= to) return { kind: 'numbers', protocol: transport, from, to }
  return refuse(
    field,
    `${from}-${to}`,
    `write numbers from 1 to 65535, the end not below the start; ${until}`,
  )
}

/** Definitions of the API that know less of its fields let other things stand there. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  const list: unknown = value
  return value !== undefined && Array.isArray(list) ? value : []
}

function isThere<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}
