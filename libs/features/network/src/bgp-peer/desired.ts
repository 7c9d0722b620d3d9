import {
  bgpPeerCondition,
  bgpPeerResource,
  kubeTime,
  setCondition,
  type BgpPeer,
  type ConditionChange,
} from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'

/** A BgpPeer that nobody may be keeping. */
export interface PeerSnapshot {
  readonly object: BgpPeer
  /** Whether its node has a speaker. */
  readonly hasSpeaker: boolean
  /** Since when nobody knows how the node is, in milliseconds since the epoch; `undefined` if somebody does. */
  readonly silentSinceMs: number | undefined
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** What a status says of a session that there is. */
const ofSession = { neighborId: null, localAddress: null, holdTimeSeconds: null, capabilities: null } as const
const noPrefixes = { advertised: 0, received: 0, receivedIpv4: 0, receivedIpv6: 0 } as const

/** Says of a session that is said to be there, and whose speaker can not say otherwise, that it is not, or that nobody knows. */
export function desiredStatus({ object, hasSpeaker, silentSinceMs, now }: PeerSnapshot): Desired {
  const established = object.status?.conditions?.find(({ type }) => type === bgpPeerCondition.type)
  if (established === undefined || established.status === 'False') return nothing
  const { reason } = bgpPeerCondition
  if (!hasSpeaker) {
    const error = 'there is no speaker on the node any more'
    const change = { status: 'False', reason: reason.gone, message: error } as const
    const prefixes = { ...noPrefixes, receivedIsBeyondBound: null }
    return patchOf({ state: 'Idle', error, ...ofSession, bfd: null, prefixes }, change, { object, now })
  }
  if (established.reason === reason.silent || silentSinceMs === undefined) return nothing
  // It is told once for each silence. A speaker that is at work contradicts, and is right: it is the kubelet alone that is silent. Times
  // are not compared, since the node, its speaker and whoever misses it have a clock each.
  const lastSilence = kubeTime(silentSinceMs)
  if (object.status?.lastSilence === lastSilence) return nothing
  const error = 'the node is silent: what is said here was so before'
  const change = { status: 'Unknown', reason: reason.silent, message: error } as const
  return patchOf({ state: 'Unknown', error, lastSilence }, change, { object, now })
}

function patchOf(
  status: object,
  change: Omit<ConditionChange, 'type'>,
  { object, now }: Pick<PeerSnapshot, 'object' | 'now'>,
): Desired {
  const { name, generation } = object.metadata
  const condition = {
    ...{ type: bgpPeerCondition.type, ...change },
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }
  const conditions = setCondition(object.status?.conditions ?? [], condition, now)
  const merge = { status: { ...status, since: kubeTime(now), conditions } }
  return { ...nothing, patches: [{ resource: bgpPeerResource, name, subresource: 'status', merge }] }
}
