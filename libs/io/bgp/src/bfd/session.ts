import type { Clock } from '@kube-ovn/time'
import { diagnostic, type BfdPacket, type BfdState } from './packet.ts'

/** How a neighbour is watched. */
export interface BfdTimers {
  /** How often packets are sent at most, as far as the neighbour takes them: milliseconds. */
  readonly minTxMs: number
  /** How often packets are taken at most. */
  readonly minRxMs: number
  /** After how many that did not come the neighbour is held for dead, by whoever waits for ours. */
  readonly multiplier: number
}

export interface BfdSessionOptions extends BfdTimers {
  /** Of all sessions here, another one; not 0. */
  readonly discriminator: number
  readonly clock: Clock
  /** In [0, 1), as Math.random. */
  readonly random: () => number
  /** Says nothing to a neighbour that it does not hear (RFC 5880, section 6.1). */
  readonly isPassive?: boolean | undefined
}

export interface BfdHandlers {
  send(packet: BfdPacket): void
  /** The state is another one. */
  changed?(): void
  up(): void
  /** It was up, and is not any more. Not called when the neighbour said that it was switched off: it may be well. */
  lost(reason: string): void
}

/** How a session is doing. */
export interface BfdStatus {
  readonly state: BfdState
  readonly remoteState: BfdState
  /** How often it was up and went down. */
  readonly failures: number
  readonly sent: number
  readonly received: number
}

/** As long as a session is not up, it takes one packet a second (RFC 5880, section 6.8.3). */
const slowTxMs = 1000
const largestMicroseconds = 4_294_967_295

/**
 * A session of BFD with a neighbour on the link, in asynchronous mode (RFC 5880, 5881). It sends from its beginning to its end, or, where it is
 * passive, as long as it hears the neighbour.
 */
export class BfdSession {
  readonly #options: BfdSessionOptions
  readonly #handlers: BfdHandlers
  #state: BfdState = 'down'
  #diagnostic: number = diagnostic.none
  #remote: BfdPacket | undefined
  #isPolling = false
  #failures = 0
  #sent = 0
  #received = 0
  #heardMs = 0
  #sending: Disposable | undefined
  #detection: Disposable | undefined

  constructor(options: BfdSessionOptions, handlers: BfdHandlers) {
    this.#options = options
    this.#handlers = handlers
  }

  get status(): BfdStatus {
    return {
      ...{ state: this.#state, remoteState: this.#remote?.state ?? 'down' },
      ...{ failures: this.#failures, sent: this.#sent, received: this.#received },
    }
  }

  start(): void {
    if (this.#isSilent) return
    this.#send()
    this.#schedule()
  }

  /** Ends it. The neighbour is told that this is on purpose, and says nothing about the way between the two. */
  stop(): void {
    this.#sending?.[Symbol.dispose]()
    this.#detection?.[Symbol.dispose]()
    const isSilent = this.#isSilent
    this.#state = 'admin-down'
    this.#diagnostic = diagnostic.administrativelyDown
    if (!isSilent) this.#send()
  }

  /** Takes a packet of the neighbour. One that is for another session is passed over. */
  take(packet: BfdPacket): boolean {
    const { discriminator, clock } = this.#options
    if (this.#state === 'admin-down') return false
    if (packet.yourDiscriminator !== 0 && packet.yourDiscriminator !== discriminator) return false
    const before = this.#remote
    this.#received++
    this.#remote = packet
    this.#heardMs = clock.monotonic()
    if (packet.final) this.#isPolling = false
    this.#follow(packet)
    if (packet.poll) this.#send({ final: true })
    this.#watch()
    // A neighbour that wants to hear more often is not kept waiting for what was planned before.
    const hasOtherPace = before?.requiredMinRxUs !== packet.requiredMinRxUs || before.demand !== packet.demand
    if (hasOtherPace) this.#schedule()
    return true
  }

  /** RFC 5880, section 6.8.6. */
  #follow({ state }: BfdPacket): void {
    if (state === 'admin-down') {
      if (this.#state !== 'down') this.#become('down', diagnostic.neighborDown)
    } else if (this.#state === 'down') {
      if (state === 'down') this.#become('init', diagnostic.none)
      else if (state === 'init') this.#become('up', diagnostic.none)
    } else if (this.#state === 'init') {
      if (state !== 'down') this.#become('up', diagnostic.none)
    } else if (state === 'down') this.#lose('the neighbour hears nothing', diagnostic.neighborDown)
  }

  #become(state: BfdState, why: number): void {
    this.#state = state
    this.#handlers.changed?.()
    this.#diagnostic = why
    // The pace differs from now on, which the neighbour has to confirm (section 6.5).
    this.#isPolling = state === 'up'
    this.#send()
    this.#schedule()
    if (state === 'up') this.#handlers.up()
  }

  #lose(reason: string, why: number): void {
    const wasUp = this.#state === 'up'
    if (wasUp) this.#failures++
    this.#become('down', why)
    if (wasUp) this.#handlers.lost(reason)
  }

  get #desiredMinTxMs(): number {
    const { minTxMs } = this.#options
    return this.#state === 'up' ? minTxMs : Math.max(minTxMs, slowTxMs)
  }

  get #isSilent(): boolean {
    return this.#options.isPassive === true && this.#remote === undefined
  }

  #schedule(): void {
    this.#sending?.[Symbol.dispose]()
    if (this.#isSilent) return
    const { clock, random, multiplier } = this.#options
    const remoteMs = (this.#remote?.requiredMinRxUs ?? 1) / 1000
    const isAskedForSilence =
      remoteMs === 0 ||
      (this.#remote?.demand === true &&
        this.#remote.state === 'up' &&
        this.#state === 'up' &&
        !this.#isPolling)
    if (isAskedForSilence) return
    // A quarter less at random, so that many do not fall into step; with a multiplier of one there must be room left.
    const [least, spread] = multiplier === 1 ? [0.75, 0.15] : [0.75, 0.25]
    const delayMs = Math.max(this.#desiredMinTxMs, remoteMs) * (least + random() * spread)
    this.#sending = clock.setTimer(delayMs, () => {
      this.#send()
      this.#schedule()
    })
  }

  #send({ final = false }: { readonly final?: boolean } = {}): void {
    const { discriminator, minRxMs, multiplier } = this.#options
    this.#sent++
    this.#handlers.send({
      ...{ diagnostic: this.#diagnostic, state: this.#state, multiplier },
      ...{ poll: this.#isPolling && !final, final, demand: false },
      ...{ myDiscriminator: discriminator, yourDiscriminator: this.#remote?.myDiscriminator ?? 0 },
      ...{ desiredMinTxUs: microseconds(this.#desiredMinTxMs), requiredMinRxUs: microseconds(minRxMs) },
    })
  }

  /** One timer for any number of packets. */
  #watch(isSecondLook = false): void {
    this.#detection?.[Symbol.dispose]()
    this.#detection = undefined
    const remote = this.#remote
    if (remote === undefined || this.#state === 'admin-down') return
    const { clock, minRxMs } = this.#options
    const detectionMs = remote.multiplier * Math.max(minRxMs, remote.desiredMinTxUs / 1000)
    const leftMs = this.#heardMs + detectionMs - clock.monotonic()
    if (leftMs > 0) this.#detection = clock.setTimer(leftMs, () => this.#watch())
    // What came while this process was busy is read before the neighbour is held for dead.
    else if (!isSecondLook) this.#detection = clock.setTimer(1, () => this.#watch(true))
    else {
      this.#remote = undefined
      if (this.#state === 'down') return
      this.#lose(`nothing was heard for ${Math.round(detectionMs)} ms`, diagnostic.timeExpired)
    }
  }
}

function microseconds(ms: number): number {
  return Math.min(Math.round(ms * 1000), largestMicroseconds)
}
