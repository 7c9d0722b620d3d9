import type {
  AdminNetworkPolicy,
  AdminPolicyPeer,
  AdminPolicyPort,
  AdminPolicyProtocol,
  AdminPolicyRule,
  AdminPolicySubject,
} from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { isOwnNode, isWithin, nodeOf, numbersOf, podOf, prefixOf, selectsPod } from './known.ts'
import type { Question, Verdict } from './known.ts'
import { isNamed } from './names.ts'
import { isReadable, selects } from './selector.ts'

type Kind = 'anp' | 'banp' | 'cnp'

interface Ranked {
  readonly kind: Kind
  readonly policy: AdminNetworkPolicy
  /** Lower is asked before. */
  readonly rank: number
}

/** What a rule does; `pass` hands over to the next tier. */
type Action = Verdict | 'pass'

/**
 * What administrators say in a tier: what the first rule does that is about the packet, of the policy that comes first.
 *
 * @see https://network-policy-api.sigs.k8s.io/api-overview/
 */
export function adminVerdict(tier: 'Admin' | 'Baseline', question: Question): Verdict | undefined {
  const { objects, direction } = question
  const ofTier = objects.clusterNetworkPolicies.filter(({ spec }) => spec?.tier === tier)
  const ranked: readonly Ranked[] = [
    ...ofTier.map((policy): Ranked => ({ kind: 'cnp', policy, rank: 25 * (policy.spec?.priority ?? 0) })),
    ...(tier === 'Admin'
      ? objects.adminNetworkPolicies.map((policy): Ranked => ({
          kind: 'anp',
          policy,
          rank: 100 * (policy.spec?.priority ?? 0),
        }))
      : objects.baselineAdminNetworkPolicies.map((policy): Ranked => ({
          kind: 'banp',
          policy,
          rank: Number.POSITIVE_INFINITY,
        }))),
  ]
  // A kubelet probes its pods whoever is denied: nodes are no peers of ingress.
  if (isOwnNode(question) && direction === 'ingress') return undefined
  for (const { kind, policy } of [...ranked].sort((a, b) => a.rank - b.rank)) {
    if (!isSubject(policy.spec?.subject, question)) continue
    for (const rule of policy.spec?.[direction] ?? []) {
      const action = actionOf(kind, rule, question, served(policy, rule, question))
      if (action === 'pass') return undefined
      if (action !== undefined) return action
    }
  }
  return undefined
}

/** Pods by which named ports go. */
function served(
  policy: AdminNetworkPolicy,
  { to = [] }: AdminPolicyRule,
  question: Question,
): readonly Pod[] {
  const { objects, direction } = question
  return objects.pods.filter((pod) =>
    direction === 'ingress'
      ? isSubject(policy.spec?.subject, { ...question, pod })
      : to.some((peer) => Object.keys(peer).length === 1 && isSelected(peer, pod, objects) === true),
  )
}

function isSubject(subject: AdminPolicySubject | undefined, { objects, pod }: Question): boolean {
  return subject !== undefined && isSelected(subject, pod, objects) === true
}

/** `undefined` where it can not be said. */
function isSelected(
  { namespaces, pods }: AdminPolicySubject,
  pod: Question['pod'] | undefined,
  objects: Question['objects'],
): boolean | undefined {
  if ((namespaces === undefined) === (pods === undefined)) return undefined
  const { podSelector = {}, namespaceSelector = namespaces ?? {} } = pods ?? {}
  if (!isReadable(podSelector) || !isReadable(namespaceSelector)) return undefined
  return selectsPod(objects, pod, podSelector, namespaceSelector)
}

/** What can not be read fails closed: nothing is allowed by it, and everything denied that it may deny or pass on. */
function actionOf(
  kind: Kind,
  rule: AdminPolicyRule,
  question: Question,
  served: readonly Pod[],
): Action | undefined {
  const known: Readonly<Record<string, Action>> = {
    [kind === 'cnp' ? 'Accept' : 'Allow']: 'allow',
    Deny: 'deny',
    ...(kind === 'banp' ? {} : { Pass: 'pass' }),
  }
  const action = known[rule.action ?? ''] ?? 'deny'
  const ports = [
    ...(rule.ports ?? []).map((port) => isPort(port, question, served)),
    ...(rule.protocols ?? []).map((protocol) => isProtocol(protocol, question, served)),
  ]
  const given = (question.direction === 'ingress' ? rule.from : rule.to) ?? []
  const isDenying = action === 'deny' || (action === 'pass' && ports.includes(undefined))
  const peers = given.map((peer) => isPeer(kind, peer, question, isDenying))
  const cut = { peers: peers.length === 0 || peers.includes(undefined), ports: ports.includes(undefined) }
  const isAbout = {
    peers: peers.includes(true) || (cut.peers && action !== 'allow'),
    ports: ports.length === 0 || ports.includes(true) || (cut.ports && action !== 'allow'),
  }
  if (!isAbout.peers || !isAbout.ports) return undefined
  return action !== 'allow' && (cut.peers || cut.ports) ? 'deny' : action
}

/** `undefined` where it can not be read. */
function isPeer(
  kind: Kind,
  peer: AdminPolicyPeer,
  question: Question,
  isDenying: boolean,
): boolean | undefined {
  const { objects, direction, peer: end } = question
  const fields = Object.keys(peer)
  if (fields.length !== 1) return undefined
  const { nodes, networks, domainNames } = peer
  // What a name that is not followed stands for is not known, neither to allow it nor to deny it.
  if (direction === 'egress' && domainNames !== undefined && kind !== 'banp')
    return question.followsNames && domainNames.some((name) => isNamed(name, question, isDenying))
  if (direction === 'egress' && nodes !== undefined)
    return isReadable(nodes)
      ? selects(nodes, nodeOf(objects, end)?.metadata.labels) && end.kind === 'node'
      : undefined
  if (direction === 'egress' && networks !== undefined) {
    if (networks.some((text) => prefixOf(text) === undefined)) return undefined
    return networks.some((text) => isWithin(text, end.address) === true)
  }
  if (peer.namespaces === undefined && peer.pods === undefined) return undefined
  return isSelected(peer, podOf(objects, end), objects)
}

function isPort(
  { portNumber, portRange, namedPort }: AdminPolicyPort,
  question: Question,
  served: readonly Pod[],
): boolean | undefined {
  const { packet } = question
  if (namedPort !== undefined) return numbersOf(served, namedPort, packet).includes(packet.port)
  if (portNumber !== undefined)
    return isNumber(portNumber.protocol, portNumber.port, portNumber.port, question)
  if (portRange !== undefined) return isNumber(portRange.protocol, portRange.start, portRange.end, question)
  return undefined
}

function isProtocol(
  one: AdminPolicyProtocol,
  question: Question,
  served: readonly Pod[],
): boolean | undefined {
  const { packet } = question
  if (one.destinationNamedPort !== undefined)
    return numbersOf(served, one.destinationNamedPort, packet).includes(packet.port)
  for (const protocol of ['tcp', 'udp', 'sctp'] as const) {
    const { number, range } = one[protocol]?.destinationPort ?? {}
    const [from, to] = range === undefined ? [number, number] : [range.start, range.end]
    if (from !== undefined) return isNumber(protocol.toUpperCase(), from, to, question)
  }
  return undefined
}

function isNumber(
  protocol = 'TCP',
  from: number | undefined,
  to: number | undefined,
  { packet }: Question,
): boolean | undefined {
  if (!['TCP', 'UDP', 'SCTP'].includes(protocol) || from === undefined || to === undefined) return undefined
  if (from < 1 || to > 65_535 || from > to) return undefined
  return protocol.toLowerCase() === packet.protocol && from <= packet.port && packet.port <= to
}
