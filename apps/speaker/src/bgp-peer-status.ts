import { createHash } from 'node:crypto'
import type { Agreement, WatchedPeerStatus } from '@kube-ovn/bgp'
import { isIpv4, parseIp } from '@kube-ovn/ip'
import type { MergeFragment } from '@kube-ovn/kube'
import {
  bgpPeerCondition,
  kubeTime,
  setCondition,
  type BgpPeer,
  type ConditionChange,
} from '@kube-ovn/kube-api'

const stateWords = {
  idle: 'Idle',
  connect: 'Connect',
  active: 'Active',
  'open-sent': 'OpenSent',
  'open-confirm': 'OpenConfirm',
  established: 'Established',
} as const satisfies Record<WatchedPeerStatus['state'], string>

const bfdWords = { 'admin-down': 'AdminDown', down: 'Down', init: 'Init', up: 'Up' } as const

/** What is left of the longest name for that of the node, beside a dot and the longest address. */
const longestNode = 253 - 1 - 39
const digestLength = 16

/**
 * The name of the object of a session: the node, a dot, and the address with dashes, of IPv6 all eight groups.
 *
 * It is the name of an object whatever the address, and of no other session: what is behind the last dot has no dot. Of a node whose
 * name is too long the end is replaced by a digest.
 */
export function bgpPeerName(node: string, neighbor: string): string {
  const ip = parseIp(neighbor, 'neighbor-address')
  const groups = isIpv4(ip)
    ? [24, 16, 8, 0].map((shift) => String((ip >>> shift) & 0xff))
    : Array.from({ length: 8 }, (_, group) => ((ip >> BigInt(16 * (7 - group))) & 0xffffn).toString(16))
  return `${shortened(node)}.${groups.join('-')}`
}

function shortened(node: string): string {
  if (node.length <= longestNode) return node
  const digest = createHash('sha256').update(node).digest('hex').slice(0, digestLength)
  // Each part between dots ends with a letter or a digit.
  return `${node.slice(0, longestNode - digestLength - 1).replace(/[^a-z0-9]+$/, '')}-${digest}`
}

export interface StatusContext {
  readonly nowMs: number
  /** The speaker ends, and keeps no routes at its neighbours. */
  readonly isStopped?: boolean
}

/**
 * Says what the status of an object is to be.
 *
 * As long as there is no session, a speaker goes from Idle to Connect and back. That alone is no change, nor is a try that fails like the one
 * before: a router that is away for a year costs no writes.
 */
export function desiredStatus(
  peer: WatchedPeerStatus,
  object: Pick<BgpPeer, 'metadata' | 'status'>,
  { nowMs, isStopped = false }: StatusContext,
): MergeFragment {
  const { status: before } = object
  const isEstablished = peer.state === 'established'
  const wasEstablished = before?.state === stateWords.established
  const error = isEstablished ? undefined : isStopped ? 'the speaker has ended' : peer.lastEnd?.reason
  const isAsBefore = before?.state !== undefined && !isEstablished && !wasEstablished
  const agreement = isEstablished ? peer.agreement : undefined
  const { ipv4, ipv6, isBeyondBound } = peer.heard
  return {
    state: isAsBefore && before.error === error ? before.state : stateWords[peer.state],
    since: (isAsBefore ? before.since : undefined) ?? kubeTime(sinceMs(peer, wasEstablished, nowMs)),
    neighborAs: peer.as,
    neighborId: agreement?.identifier ?? null,
    localAddress: (isEstablished ? peer.localAddress : undefined) ?? null,
    holdTimeSeconds: agreement?.holdTimeS ?? null,
    capabilities: agreement === undefined ? null : capabilitiesOf(agreement),
    prefixes: {
      ...{ wanted: peer.wanted, advertised: peer.advertised, untellable: peer.untellable },
      ...{ received: ipv4 + ipv6, receivedIpv4: ipv4, receivedIpv6: ipv6 },
      receivedIsBeyondBound: isBeyondBound || null,
    },
    bfd: peer.bfd === undefined ? null : bfdWords[peer.bfd.state],
    error: error ?? null,
    // The end that a speaker before this one has seen is kept.
    lastEnd: peer.lastEnd && endOf(peer.lastEnd, before?.lastEnd, wasEstablished && !isEstablished),
    conditions: [
      ...setCondition(
        before?.conditions ?? [],
        {
          ...conditionOf(peer, error, isStopped),
          observedGeneration: object.metadata.generation ?? 1,
        },
        nowMs,
      ),
    ],
  }
}

/** Whether the first session of this process has come about, or a try has failed. Until then an object tells of the speaker before it. */
export function hasOutcome({ state, lastEnd }: WatchedPeerStatus): boolean {
  return state === 'established' || lastEnd !== undefined
}

/** Whether a change of a status is about more than numbers of prefixes. */
export function isNews(patch: MergeFragment): boolean {
  return Object.keys(patch).some((field) => field !== 'prefixes')
}

function sinceMs(peer: WatchedPeerStatus, wasEstablished: boolean, nowMs: number): number {
  if (peer.state === 'established') return peer.sinceMs
  if (peer.lastEnd !== undefined) return peer.lastEnd.atMs
  // Nobody has seen the end of a session of the speaker before this one.
  return wasEstablished ? nowMs : peer.sinceMs
}

function capabilitiesOf(agreement: Agreement): readonly string[] {
  const { families, hasFourOctetAs, hasExtendedNextHop, takesRouteRefresh, restartsGracefully } = agreement
  return [
    ...families.map((family) => `${family}-unicast`).sort(),
    ...(hasFourOctetAs ? ['four-octet-as'] : []),
    ...(hasExtendedNextHop ? ['extended-nexthop'] : []),
    ...(takesRouteRefresh ? ['route-refresh'] : []),
    ...(restartsGracefully ? ['graceful-restart'] : []),
  ]
}

type End = NonNullable<WatchedPeerStatus['lastEnd']>
type EndStatus = NonNullable<NonNullable<BgpPeer['status']>['lastEnd']>

function endOf(
  { by, errorCode, subcode, reason, atMs }: End,
  before: EndStatus | undefined,
  isOfSession: boolean,
): MergeFragment {
  const end = { by, errorCode, errorSubcode: subcode, reason }
  const isAlike =
    before !== undefined &&
    before.by === by &&
    before.errorCode === errorCode &&
    before.errorSubcode === subcode &&
    before.reason === reason
  return { ...end, time: (isAlike && !isOfSession ? before.time : undefined) ?? kubeTime(atMs) }
}

const reasonsByEnd = {
  transport: bgpPeerCondition.reason.connectionFailed,
  remote: bgpPeerCondition.reason.refused,
  local: bgpPeerCondition.reason.ended,
} as const satisfies Record<End['by'], string>

function conditionOf(
  { state, lastEnd, problem, identifierProblem }: WatchedPeerStatus,
  error: string | undefined,
  isStopped: boolean,
): ConditionChange {
  const { type, reason } = bgpPeerCondition
  if (state === 'established')
    return {
      ...{ type, status: 'True', reason: reason.established },
      message:
        problem === undefined
          ? withProblem('routes are told', identifierProblem)
          : withProblem('no routes are told', problem),
    }
  const cause = lastEnd === undefined ? reason.connecting : reasonsByEnd[lastEnd.by]
  return {
    ...{ type, status: 'False', reason: isStopped ? reason.stopped : cause },
    message: isStopped
      ? (error ?? '')
      : withProblem(error ?? 'there has been no session yet', lastEnd?.problem),
  }
}

function withProblem(message: string, problem: End['problem']): string {
  return problem === undefined
    ? message
    : `${message} (${problem.field} is ${problem.value}: ${problem.cure})`
}
