import { noCapabilities, type Capabilities } from '../capabilities.ts'
import type { Connection, ConnectionHandlers } from '../connection.ts'
import { MessageStream } from '../message-stream.ts'
import { encodeMessage, type Message, type MessageType } from '../message.ts'
import type { PathAttributes } from '../path-attributes.ts'
import { endedFamily } from '../update-message.ts'

const context = { hasFourOctetAs: true }

/** The other end of a session, in memory: says what a test wants, and keeps what it is told. */
export class RemoteRouter {
  readonly as: number
  readonly capabilities: Capabilities
  /** What came over the last connection. */
  messages: Message[] = []
  /** Next hop by prefix. */
  table = new Map<string, string>()
  /** What was said of it, by prefix. */
  paths = new Map<string, PathAttributes>()
  /** Bytes that the own end of the connection says are queued. */
  queuedBytes = 0
  #handlers: ConnectionHandlers | undefined
  #stream = new MessageStream()
  isOpen = false

  constructor(as: number, capabilities: Partial<Capabilities> = {}) {
    this.as = as
    this.capabilities = {
      ...{ ...noCapabilities, families: ['ipv4', 'ipv6'], routeRefresh: true, fourOctetAs: as },
      ...capabilities,
    }
  }

  /** A connection to it. What it was told over the one before is forgotten. */
  connection(): Connection {
    this.messages = []
    this.table = new Map()
    this.paths = new Map()
    this.#stream = new MessageStream()
    this.isOpen = true
    const own = { closed: false }
    const close = (): void => {
      if (own.closed) return
      own.closed = true
      this.isOpen = false
      queueMicrotask(() => handlers?.closed(undefined))
    }
    let handlers: ConnectionHandlers | undefined
    const queued = (): number => this.queuedBytes
    return {
      localAddress: '192.0.2.1',
      get queuedBytes() {
        return queued()
      },
      write: (bytes) => {
        if (own.closed) throw new TypeError('wrote to a closed connection')
        this.#stream.push(
          bytes,
          () => context,
          (message) => this.#take(message),
        )
      },
      end: close,
      destroy: close,
      listen: (given) => {
        handlers = given
        this.#handlers = given
      },
    }
  }

  say(message: Message): void {
    this.sayBytes(encodeMessage(message, context))
  }

  sayBytes(bytes: Buffer): void {
    this.#handlers?.data(bytes)
  }

  open(more: { readonly holdTimeS?: number; readonly identifier?: string } = {}): void {
    const { as, capabilities } = this
    this.say({ type: 'open', as, holdTimeS: 90, identifier: '192.0.2.9', capabilities, ...more })
  }

  /** Does its part until the session is established. */
  establish(): void {
    this.open()
    this.say({ type: 'keepalive' })
  }

  drain(): void {
    this.queuedBytes = 0
    this.#handlers?.drained()
  }

  /** The connection is gone. */
  cut(): void {
    this.isOpen = false
    this.#handlers?.closed(new Error('ECONNRESET'))
  }

  ofType<T extends MessageType>(type: T): readonly Extract<Message, { type: T }>[] {
    return this.messages.filter((message): message is Extract<Message, { type: T }> => message.type === type)
  }

  /** Families of which it has been told that it knows all. */
  get ended(): readonly (string | undefined)[] {
    return this.ofType('update')
      .map(endedFamily)
      .filter((family) => family !== undefined)
  }

  #take(message: Message): void {
    this.messages.push(message)
    if (message.type !== 'update') return
    const { withdrawn, announced, path, reachable, unreachable } = message
    for (const prefix of [...withdrawn, ...(unreachable?.prefixes ?? [])]) {
      this.table.delete(prefix)
      this.paths.delete(prefix)
    }
    for (const prefix of announced) this.table.set(prefix, path?.nextHop ?? '')
    for (const prefix of reachable?.prefixes ?? []) this.table.set(prefix, reachable?.nextHop ?? '')
    if (path === undefined) return
    for (const prefix of [...announced, ...(reachable?.prefixes ?? [])]) this.paths.set(prefix, path)
  }
}
