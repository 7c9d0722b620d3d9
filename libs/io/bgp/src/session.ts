import type { Refused } from '@kube-ovn/errors'
import type { Clock } from '@kube-ovn/time'
import type { AddressFamily } from './address-family.ts'
import { familiesOf, type Capabilities } from './capabilities.ts'
import type { Connection } from './connection.ts'
import { countMessage, type MessageCounters } from './counters.ts'
import { BgpMessageError } from './errors.ts'
import { MessageStream } from './message-stream.ts'
import { encodeMessage, type Message } from './message.ts'
import { ceaseReason, describeNotification, errorCode } from './notification.ts'
import type { OpenMessage } from './open-message.ts'
import { disagreementOf } from './session-problem.ts'

/** How a session came to its end. */
export interface SessionEnd {
  /** Who ended it: by a NOTIFICATION of the own side or of the peer, or because the connection was gone. */
  readonly by: 'local' | 'remote' | 'transport'
  readonly errorCode: number
  readonly subcode: number
  readonly reason: string
  /** The setting that it is about, as far as anybody can tell. */
  readonly problem?: Refused | undefined
}

/** What was agreed on in the OPENs. */
export interface Agreement {
  readonly identifier: string
  /** 0 when nobody needs to be heard from. */
  readonly holdTimeS: number
  readonly families: readonly AddressFamily[]
  readonly hasFourOctetAs: boolean
  readonly hasExtendedNextHop: boolean
  readonly takesRouteRefresh: boolean
  /** Whether both keep routes over a restart. */
  readonly restartsGracefully: boolean
}

export interface SessionOptions {
  readonly localAs: number
  readonly remoteAs: number
  /** IPv4 address. */
  readonly identifier: string
  readonly holdTimeS: number
  readonly capabilities: Capabilities
  readonly clock: Clock
  /** In [0, 1), as Math.random. */
  readonly random: () => number
  readonly sent: MessageCounters
  readonly received: MessageCounters
}

export interface SessionHandlers {
  changed(state: SessionState): void
  established(agreement: Agreement): void
  /** A message of an established session that is neither a KEEPALIVE nor a NOTIFICATION. */
  message(message: Message): void
  drained(): void
  ended(end: SessionEnd): void
}

export interface CloseOptions {
  /** What the NOTIFICATION carries beside its codes. */
  readonly data?: Buffer
  readonly problem?: Refused
}

export type SessionState = 'open-sent' | 'open-confirm' | 'established'

/** How long a peer has for its OPEN; RFC 4271 suggests four minutes, in which no other try is made. */
const openWaitS = 60
/** A peer that reads nothing for that long is given up (RFC 9687 has eight minutes, or twice the hold time). */
const sendHoldMs = 8 * 60_000

/**
 * One connection to a peer, from the OPENs on: the states OpenSent, OpenConfirm and Established of RFC 4271, section 8.
 *
 * Whatever the peer sends, this throws nothing: it answers with a NOTIFICATION, and ends.
 */
export class Session {
  readonly #connection: Connection
  readonly #options: SessionOptions
  readonly #handlers: SessionHandlers
  readonly #stream = new MessageStream()
  #state: SessionState = 'open-sent'
  #isOver = false
  #agreement: Agreement | undefined
  #heardMs: number
  #holdMs: number
  #hold: Disposable | undefined
  #keepalive: Disposable | undefined
  #sendHold: Disposable | undefined

  /** Begins with an OPEN on a connection that is there. */
  constructor(connection: Connection, options: SessionOptions, handlers: SessionHandlers) {
    this.#connection = connection
    this.#options = options
    this.#handlers = handlers
    this.#heardMs = options.clock.monotonic()
    this.#holdMs = openWaitS * 1000
    const { localAs: as, holdTimeS, identifier, capabilities } = options
    this.send({ type: 'open', as, holdTimeS, identifier, capabilities })
    this.#watchSilence()
    connection.listen({
      data: (bytes) => this.#receive(bytes),
      drained: () => {
        this.#sendHold?.[Symbol.dispose]()
        this.#sendHold = undefined
        if (!this.#isOver) handlers.drained()
      },
      closed: (error) =>
        this.#end({
          ...{ by: 'transport', errorCode: 0, subcode: 0 },
          reason: error === undefined ? 'the peer closed the connection' : error.message,
        }),
    })
  }

  get state(): SessionState {
    return this.#state
  }

  get agreement(): Agreement | undefined {
    return this.#agreement
  }

  get localAddress(): string {
    return this.#connection.localAddress
  }

  get queuedBytes(): number {
    return this.#connection.queuedBytes
  }

  send(message: Message): void {
    if (this.#isOver) return
    countMessage(this.#options.sent, message)
    const hasFourOctetAs = this.#agreement?.hasFourOctetAs ?? true
    this.#connection.write(encodeMessage(message, { hasFourOctetAs }))
    if (this.#connection.queuedBytes > 0) this.#watchSending()
  }

  /** Ends it with a NOTIFICATION. */
  close(code: number, subcode: number, { data = Buffer.alloc(0), problem }: CloseOptions = {}): void {
    if (this.#isOver) return
    this.send({ type: 'notification', errorCode: code, subcode, data })
    this.#connection.end()
    this.#end({ by: 'local', errorCode: code, subcode, reason: describeNotification(code, subcode), problem })
  }

  /** Ends it without a word, so that a peer which keeps routes over a restart keeps them. */
  leave(reason: string): void {
    if (this.#isOver) return
    this.#connection.end()
    this.#end({ by: 'local', errorCode: 0, subcode: 0, reason })
  }

  #receive(bytes: Buffer): void {
    try {
      const context = (): { hasFourOctetAs: boolean } => ({
        hasFourOctetAs: this.#agreement?.hasFourOctetAs ?? true,
      })
      this.#stream.push(bytes, context, (message) => {
        if (this.#isOver) return
        countMessage(this.#options.received, message)
        this.#heardMs = this.#options.clock.monotonic()
        this.#take(message)
      })
    } catch (error) {
      if (!(error instanceof BgpMessageError)) throw error
      const { details, data } = error
      this.close(details.errorCode, details.subcode, { data })
    }
  }

  #take(message: Message): void {
    if (message.type === 'notification') {
      const { errorCode, subcode } = message
      this.#connection.end()
      this.#end({ by: 'remote', errorCode, subcode, reason: describeNotification(errorCode, subcode) })
    } else if (this.#state === 'open-sent' && message.type === 'open') this.#agree(message)
    else if (this.#state === 'open-confirm' && message.type === 'keepalive') this.#establish()
    else if (this.#state === 'established' && message.type !== 'open') {
      if (message.type !== 'keepalive') this.#handlers.message(message)
    } else
      throw new BgpMessageError(
        errorCode.finiteStateMachine,
        { 'open-sent': 1, 'open-confirm': 2, established: 3 }[this.#state],
      )
  }

  #agree(open: OpenMessage): void {
    const { holdTimeS, capabilities } = this.#options
    const disagreement = disagreementOf(open, this.#options)
    if (disagreement !== undefined) return this.close(errorCode.open, disagreement.subcode, disagreement)
    const theirs = open.capabilities
    const families = familiesOf(capabilities).filter((family) => familiesOf(theirs).includes(family))
    this.#agreement = {
      identifier: open.identifier,
      holdTimeS: Math.min(open.holdTimeS, holdTimeS),
      families,
      hasFourOctetAs: theirs.fourOctetAs !== undefined,
      hasExtendedNextHop: capabilities.extendedNextHop && theirs.extendedNextHop,
      takesRouteRefresh: theirs.routeRefresh,
      restartsGracefully: capabilities.gracefulRestart !== undefined && theirs.gracefulRestart !== undefined,
    }
    // Who is not to be heard from afterwards has to confirm all the same.
    this.#holdMs = (this.#agreement.holdTimeS || openWaitS) * 1000
    this.#change('open-confirm')
    this.send({ type: 'keepalive' })
    this.#watchSilence()
    if (this.#agreement.holdTimeS > 0) this.#keepAlive()
  }

  #establish(): void {
    if (this.#agreement?.holdTimeS === 0) {
      this.#holdMs = 0
      this.#watchSilence()
    }
    this.#change('established')
    if (this.#agreement !== undefined) this.#handlers.established(this.#agreement)
  }

  #change(state: SessionState): void {
    this.#state = state
    this.#handlers.changed(state)
  }

  /** Looks again when silence may have lasted too long: one timer for any number of messages. */
  #watchSilence(isSecondLook = false): void {
    this.#hold?.[Symbol.dispose]()
    this.#hold = undefined
    if (this.#holdMs === 0 || this.#isOver) return
    const { clock } = this.#options
    const leftMs = this.#heardMs + this.#holdMs - clock.monotonic()
    if (leftMs > 0) this.#hold = clock.setTimer(leftMs, () => this.#watchSilence())
    // What has come while this process was busy is read before the peer is given up.
    else if (!isSecondLook) this.#hold = clock.setTimer(1, () => this.#watchSilence(true))
    else this.close(errorCode.holdTimer, 0)
  }

  #keepAlive(): void {
    if (this.#holdMs === 0 || this.#isOver) return
    const { clock, random } = this.#options
    this.#keepalive = clock.setTimer((this.#holdMs / 3) * (0.75 + random() / 4), () => {
      this.send({ type: 'keepalive' })
      this.#keepAlive()
    })
  }

  #watchSending(): void {
    this.#sendHold ??= this.#options.clock.setTimer(Math.max(sendHoldMs, 2 * this.#holdMs), () => {
      this.#connection.destroy()
      this.#end({ by: 'local', errorCode: 0, subcode: 0, reason: 'the peer reads nothing' })
    })
  }

  #end(end: SessionEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const timer of [this.#hold, this.#keepalive, this.#sendHold]) timer?.[Symbol.dispose]()
    this.#handlers.ended(end)
  }
}

/** What a session that is not wanted any more is told. */
export const collision = [errorCode.cease, ceaseReason.collision] as const
