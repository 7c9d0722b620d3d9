import type { Refused } from '@kube-ovn/errors'
import type { MessageCounters } from './counters.ts'
import type { HeardCounts } from './heard-prefixes.ts'
import type { Agreement, SessionEnd, SessionState } from './session.ts'

/** States of RFC 4271, section 8.2.2. */
export type PeerState = 'idle' | 'connect' | 'active' | SessionState

export interface PeerEnd extends SessionEnd {
  /** Milliseconds of wall-clock time. */
  readonly atMs: number
}

/** What is different of a peer: its session (state, end), or how many routes there are of either side. */
export type PeerChange = 'session' | 'routes'

/** How a peer is doing. */
export interface PeerStatus {
  readonly address: string
  readonly as: number
  readonly state: PeerState
  /** Since the last change of state, milliseconds of wall-clock time. */
  readonly sinceMs: number
  /** How often an established session has ended. */
  readonly flaps: number
  /** Of the last session, or try for one; it is kept when another one is established. */
  readonly lastEnd: PeerEnd | undefined
  /** Of an established session. */
  readonly agreement: Agreement | undefined
  readonly localAddress: string | undefined
  /** Routes that it is to know, whether or not there is a next hop for them. */
  readonly wanted: number
  /** Why there are none to be told, though some are wanted. */
  readonly problem: Refused | undefined
  readonly advertised: number
  /** Routes that this peer can not be told, for its families or its capabilities. */
  readonly untellable: number
  /** Prefixes that the peer has told in this session. */
  readonly heard: HeardCounts
  readonly queuedBytes: number
  readonly sent: Readonly<MessageCounters>
  readonly received: Readonly<MessageCounters>
}
