import type { Refused } from '@kube-ovn/errors'
import type { Logger } from '@kube-ovn/log'
import { backoffDelayMs, type Backoff, type Clock } from '@kube-ovn/time'
import type { AddressFamily } from './address-family.ts'
import { Advertisements } from './advertisements.ts'
import type { Capabilities } from './capabilities.ts'
import type { Connection, Dial } from './connection.ts'
import { messageCounters } from './counters.ts'
import { BgpConfigInvalidError } from './errors.ts'
import type { Message } from './message.ts'
import { HeardPrefixes } from './heard-prefixes.ts'
import { ceaseReason, errorCode } from './notification.ts'
import type { OwnOptions, PeerOptions } from './peer-options.ts'
import type { PeerChange, PeerEnd, PeerState, PeerStatus } from './peer-status.ts'
import type { Route, Routes, Wish } from './route.ts'
import { collision, Session, type Agreement, type SessionEnd } from './session.ts'
import { problemOfConnection, problemOfNotification, reasonOfConnection } from './session-problem.ts'
import { endOfRib } from './update-message.ts'

export interface PeerDependencies {
  readonly dial: Dial
  readonly clock: Clock
  readonly log: Logger
  /** In [0, 1), as Math.random. */
  readonly random: () => number
  /** Told at each change of a peer's status, while it is made: it must return soon, and not throw. */
  readonly changed?: (peer: string, change: PeerChange) => void
}

/** A router that is back has a session within ten seconds: one that is away costs a dial in that time. */
const retry: Backoff = { initialMs: 1_000, maxMs: 10_000, factor: 2, jitter: 0.25 }
/** A dial that nobody answers is given up. */
const dialTimeoutMs = 10_000
/** A session that has lasted so long has been a good one: the next try comes soon. */
const goodSessionMs = 30_000
/** While a peer has that much to read, it is told nothing more; what it missed meanwhile is told in one. */
const mostQueuedBytes = 1_048_576

/** Keeps a session with one peer, and the peer's knowledge of our routes at what is wanted. */
export class Peer {
  readonly #options: PeerOptions
  readonly #own: OwnOptions
  readonly #deps: PeerDependencies
  readonly #log: Logger
  readonly #sent = messageCounters()
  readonly #received = messageCounters()
  #state: PeerState = 'idle'
  #sinceMs: number
  #flaps = 0
  #attempt = 0
  #lastEnd: PeerEnd | undefined
  #session: Session | undefined
  #dialling: AbortController | undefined
  #retry: Disposable | undefined
  #deferral: Disposable | undefined
  #isStopped = true
  #establishedMs = 0
  /** Whether this process has had a session with the peer: until then it may have been started anew. */
  #wasEstablished = false
  #routes: Routes = new Map()
  #wanted = 0
  #problem: Refused | undefined
  /** Whether the routes are all there are; until then the peer is not told that it knows all. */
  #areComplete = false
  #advertisements: Advertisements | undefined
  readonly #heard = new HeardPrefixes()
  /** Families of which the end of RIB has not been told. */
  readonly #unended = new Set<AddressFamily>()

  constructor(options: PeerOptions, own: OwnOptions, dependencies: PeerDependencies) {
    this.#options = options
    this.#own = own
    this.#deps = dependencies
    this.#log = dependencies.log.child({ peer: options.address, peerAs: options.as })
    this.#sinceMs = dependencies.clock.now()
  }

  get options(): PeerOptions {
    return this.#options
  }

  get address(): string {
    return this.#options.address
  }

  get as(): number {
    return this.#options.as
  }

  get status(): PeerStatus {
    const isEstablished = this.#state === 'established'
    const advertisements = isEstablished ? this.#advertisements : undefined
    return {
      ...{ address: this.#options.address, as: this.#options.as },
      ...{ state: this.#state, sinceMs: this.#sinceMs, flaps: this.#flaps, lastEnd: this.#lastEnd },
      agreement: isEstablished ? this.#session?.agreement : undefined,
      localAddress: this.#session?.localAddress,
      ...{ wanted: this.#wanted, problem: this.#problem },
      advertised: advertisements?.count ?? 0,
      untellable: advertisements?.untellable(this.#routes).length ?? 0,
      heard: this.#heard.counts,
      queuedBytes: this.#session?.queuedBytes ?? 0,
      sent: { ...this.#sent },
      received: { ...this.#received },
    }
  }

  /** What the peer calls itself; `undefined` without a session. */
  get identifier(): string | undefined {
    return this.#state === 'established' ? this.#session?.agreement?.identifier : undefined
  }

  /** Own end of the session; `undefined` without one. */
  get localAddress(): string | undefined {
    return this.#session?.localAddress
  }

  start(): void {
    if (!this.#isStopped) return
    const { refused } = this.#options
    if (refused !== undefined) return this.fail(new BgpConfigInvalidError(refused), refused)
    this.#isStopped = false
    this.#begin()
  }

  /**
   * Ends the session and makes no other.
   *
   * @param keepsRoutes whether a peer that keeps routes over a restart is to keep them: it is left without a word
   */
  stop({ keepsRoutes }: { readonly keepsRoutes: boolean }): void {
    this.#isStopped = true
    this.#stopDialling()
    const session = this.#session
    if (session === undefined) return this.#change('idle')
    // Of one that has not said yet what it keeps, it may be what the speaker before told.
    if (keepsRoutes && session.agreement?.restartsGracefully !== false)
      session.leave('left without a word, so that the peer keeps the routes')
    else session.close(errorCode.cease, ceaseReason.shutdown)
  }

  /** Says why there is no session, where none is tried for; once for each reason. */
  fail(error: Error, problem: Refused): void {
    const reason = reasonOfConnection(error)
    if (this.#lastEnd?.reason === reason) return
    this.#lastEnd = {
      ...{ by: 'transport', errorCode: 0, subcode: 0, reason, problem },
      atMs: this.#deps.clock.now(),
    }
    this.#log.warn('BGP session does not come about', { reason, ...problem })
    this.#tell('session')
  }

  /** Ends the session because BFD says that the peer can not be reached (RFC 9384); it is dialled again. */
  lose(): void {
    this.#session?.close(errorCode.cease, ceaseReason.bfdDown)
  }

  /** Ends the session because nothing arrives at its own address any more, and dials at once. */
  move(): void {
    const value = this.#session?.localAddress ?? ''
    const cure = 'have the router take the address from which routes lead to it now, or give this one back'
    this.#session?.close(errorCode.cease, ceaseReason.otherConfiguration, {
      problem: { field: 'local-address', value, cure },
    })
    this.reach()
  }

  /** Dials at once, however long it was away, because the peer can be reached now. */
  reach(): void {
    this.#attempt = 0
    if (this.#isStopped || this.#options.isPassive || this.#session !== undefined) return
    // A dial that is under way may wait for an answer to what was lost.
    this.#stopDialling()
    this.#begin()
  }

  /** Says which routes the peer is to know from now on: all of them, whatever was said before. */
  announce(routes: Iterable<Route>, { wanted, problem }: Wish = {}): void {
    const isAsBefore = problem?.cure === this.#problem?.cure
    this.#routes = new Map([...routes].map((route) => [route.prefix, route]))
    this.#wanted = wanted ?? this.#routes.size
    this.#problem = problem
    this.#areComplete = true
    this.#flush()
    this.#tell(isAsBefore ? 'routes' : 'session')
  }

  /** Takes a connection that the peer has made. */
  accept(connection: Connection): void {
    const session = this.#session
    if (this.#isStopped || !this.#options.isPassive) return refuse(connection)
    if (session?.state === 'established' && session.agreement?.restartsGracefully !== true) {
      // RFC 4271, section 6.8: the one that works is kept. A peer that was restarted comes again.
      return refuse(connection)
    }
    // A peer that restarts has lost the old one (RFC 4724, section 5), and of two that are not there yet the newer counts.
    if (session?.state === 'established') session.leave('the peer made another connection')
    else session?.close(...collision)
    this.#stopDialling()
    this.#talk(connection)
  }

  #begin(): void {
    this.#retry = undefined
    if (this.#isStopped) return
    if (this.#options.isPassive) return this.#change('active')
    this.#change('connect')
    void this.#dial()
  }

  async #dial(): Promise<void> {
    const { address, port, source, ttl, password } = this.#options
    const abort = new AbortController()
    this.#dialling = abort
    using _timeout = this.#deps.clock.setTimer(dialTimeoutMs, () =>
      abort.abort(new Error(`no answer within ${dialTimeoutMs / 1000} s`)),
    )
    try {
      const { netns } = this.#own
      const connection = await this.#deps.dial({ address, port, source, ttl, password, netns }, abort.signal)
      if (abort.signal.aborted) return connection.destroy()
      this.#dialling = undefined
      this.#talk(connection)
    } catch (error) {
      // Somebody else has given it up.
      if (this.#dialling !== abort) return
      this.#dialling = undefined
      const problem = problemOfConnection(error, address)
      this.#ended(
        { by: 'transport', errorCode: 0, subcode: 0, reason: reasonOfConnection(error), problem },
        error,
      )
    }
  }

  #talk(connection: Connection): void {
    const { as: localAs, identifier } = this.#own
    const holdTimeS = this.#options.holdTimeS ?? this.#own.holdTimeS
    const { clock, random } = this.#deps
    this.#change('open-sent')
    const session: Session = new Session(
      connection,
      {
        ...{ localAs, remoteAs: this.#options.as, identifier, holdTimeS, clock, random },
        capabilities: this.#capabilities,
        ...{ sent: this.#sent, received: this.#received },
      },
      {
        changed: (state) => this.#change(state),
        established: (agreement) => this.#established(agreement),
        message: (message) => this.#take(message),
        drained: () => {
          this.#flush()
          this.#tell('routes')
        },
        ended: (end) => {
          if (this.#session !== session) return
          this.#session = undefined
          this.#ended({ ...end, problem: end.problem ?? this.#complaintOf(end) })
        },
      },
    )
    this.#session = session
  }

  /** What the peer complains of when it ends a session. */
  #complaintOf({ by, errorCode, subcode }: SessionEnd): Refused | undefined {
    if (by !== 'remote') return undefined
    const { as: localAs, identifier } = this.#own
    return problemOfNotification(errorCode, subcode, {
      ...{ localAs, remoteAs: this.#options.as, identifier },
      holdTimeS: this.#options.holdTimeS ?? this.#own.holdTimeS,
      advertised: this.#advertisements?.count ?? 0,
    })
  }

  get #capabilities(): Capabilities {
    const { families, extendedNextHop } = this.#options
    const { as, gracefulRestart } = this.#own
    return {
      ...{ families, extendedNextHop, routeRefresh: true, fourOctetAs: as },
      gracefulRestart: gracefulRestart && {
        isRestarting: !this.#wasEstablished,
        timeS: gracefulRestart.timeS,
        // Packets go on while the speaker is away: it forwards none itself.
        families: new Map(families.map((family) => [family, { keptForwarding: true }])),
      },
    }
  }

  #established({ families, hasExtendedNextHop, hasFourOctetAs, holdTimeS }: Agreement): void {
    const { as: localAs, gracefulRestart } = this.#own
    const isInternal = localAs === this.#options.as
    this.#wasEstablished = true
    this.#establishedMs = this.#deps.clock.monotonic()
    this.#advertisements = new Advertisements({
      ...{ localAs, isInternal, families, hasExtendedNextHop, hasFourOctetAs },
    })
    for (const family of families) this.#unended.add(family)
    if (!this.#areComplete && gracefulRestart !== undefined)
      this.#deferral = this.#deps.clock.setTimer(gracefulRestart.deferralS * 1000, () => this.#endRib())
    this.#log.info('BGP session was established', {
      localAddress: this.#session?.localAddress ?? '',
      families: families.join(','),
      holdTimeS,
    })
    this.#flush()
  }

  /** Tells what the peer does not know yet, unless it has much to read. */
  #flush(): void {
    const [session, advertisements] = [this.#session, this.#advertisements]
    if (session?.state !== 'established' || advertisements === undefined) return
    if (session.queuedBytes > mostQueuedBytes) return
    for (const update of advertisements.update(this.#routes)) session.send(update)
    if (this.#areComplete) this.#endRib()
  }

  #endRib(): void {
    this.#deferral?.[Symbol.dispose]()
    this.#deferral = undefined
    for (const family of this.#unended) this.#session?.send(endOfRib(family))
    this.#unended.clear()
  }

  #take(message: Message): void {
    if (message.type === 'update') {
      this.#heard.take(message, this.#session?.agreement?.families ?? [])
      return this.#tell('routes')
    }
    if (message.type !== 'route-refresh' || message.family === undefined) return
    this.#advertisements?.repeat(message.family)
    this.#flush()
  }

  #ended(end: SessionEnd, cause?: unknown): void {
    const { clock, random } = this.#deps
    const wasEstablished = this.#state === 'established'
    this.#advertisements = undefined
    this.#unended.clear()
    this.#deferral?.[Symbol.dispose]()
    this.#deferral = undefined
    this.#heard.clear()
    this.#lastEnd = { ...end, atMs: clock.now() }
    if (wasEstablished) this.#flaps++
    if (wasEstablished && clock.monotonic() - this.#establishedMs >= goodSessionMs) this.#attempt = 0
    this.#change('idle')
    if (this.#isStopped) {
      this.#log.info('BGP session was ended', { reason: end.reason })
      return
    }
    const delayMs = Math.round(backoffDelayMs(retry, this.#attempt++, random))
    const fields = {
      ...{ by: end.by, reason: end.reason, ...end.problem, delayMs },
      ...(cause === undefined ? {} : { err: cause }),
    }
    this.#log.warn(wasEstablished ? 'BGP session was lost' : 'BGP session did not come about', fields)
    // Who waits for the peer is ready for it at once.
    if (this.#options.isPassive) this.#begin()
    else this.#retry = clock.setTimer(delayMs, () => this.#begin())
  }

  #stopDialling(): void {
    this.#retry?.[Symbol.dispose]()
    this.#retry = undefined
    const dialling = this.#dialling
    this.#dialling = undefined
    dialling?.abort(new Error('not wanted any more'))
  }

  #change(state: PeerState): void {
    if (this.#state === state) return
    this.#state = state
    this.#sinceMs = this.#deps.clock.now()
    this.#log.debug('BGP peer changed its state', { state })
    this.#tell('session')
  }

  #tell(change: PeerChange): void {
    this.#deps.changed?.(this.#options.address, change)
  }
}

/** A connection that nobody is waiting for. */
function refuse(connection: Connection): void {
  connection.destroy()
}
