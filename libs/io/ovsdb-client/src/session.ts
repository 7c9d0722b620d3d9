import type { Duplex } from 'node:stream'
import { KubeOvnError } from '@kube-ovn/errors'
import { ConnectionLostError, ProtocolError, requestRefused } from './errors.ts'
import { JsonFrames } from './frames.ts'
import { parseExactly } from './integer.ts'
import type { Path } from './long-message.ts'

interface SessionOptions {
  /** For error messages. */
  readonly endpoint: string
  /** How long the peer may be silent before it is asked for an echo, and then again until it is given up. 0: for ever. */
  readonly inactivityProbeMs: number
  /** Reads integers beyond ±2^53 as bigints. That costs time with messages that have long numbers. */
  readonly hasExactIntegers?: boolean
  /** Called for every notification, in the order in which the messages came. */
  onNotification(method: string, params: readonly unknown[]): void
  /** Called when the session ends, before requests without an answer are rejected. */
  onEnd?(cause: Error): void
  /** Is shown parts of the parameters of a long notification, before that itself. */
  readonly takePart?: (method: string, part: Part) => boolean
}

/** Part of a long result, or of the parameters of a long notification, while it is still arriving. */
export interface Part {
  /** What has come before. */
  readonly whole: unknown
  /** Where the part belongs in the whole. */
  readonly path: Path
  readonly members: object
}

interface RequestOptions {
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined
  /** Is shown parts of a long result. One that it takes, by answering `true`, is missing in the result. */
  readonly takePart?: (part: Part) => boolean
}

interface PendingRequest {
  readonly method: string
  readonly takePart: RequestOptions['takePart']
  accept(result: unknown): void
  reject(error: Error): void
}

/** So much is read before timers and other connections have their turn. Handling it takes some milliseconds. */
const bytesPerTurn = 2 ** 18

/** One connection that speaks JSON-RPC 1.0 as RFC 7047, section 4, has it. It ends once and does not come back. */
export class Session implements Disposable {
  readonly #stream: Duplex
  readonly #options: SessionOptions
  readonly #frames: JsonFrames
  readonly #pending = new Map<number, PendingRequest>()
  readonly #ended = Promise.withResolvers<Error>()
  #end: Error | undefined
  #nextId = 0
  #probe: NodeJS.Timeout | undefined
  #isAskedForEcho = false
  #chunks = 0
  #bytesThisTurn = 0

  constructor(stream: Duplex, options: SessionOptions) {
    this.#stream = stream
    this.#options = options
    const parse = options.hasExactIntegers === true ? parseExactly : JSON.parse
    this.#frames = new JsonFrames(parse, (message, path, members) => this.#takePart(message, path, members))
    stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    stream.on('error', (error) => this.lose('connection failed', error))
    stream.on('end', () => this.lose('closed by the server'))
    stream.on('close', () => this.lose('closed by the server'))
    if (options.inactivityProbeMs > 0) {
      this.#probe = setTimeout(() => this.#endSilence(), options.inactivityProbeMs)
    }
  }

  /** Resolves, with why, when the session has ended. */
  get ended(): Promise<Error> {
    return this.#ended.promise
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** How many times something has come in. */
  get chunks(): number {
    return this.#chunks
  }

  /**
   * Sends a request.
   *
   * `accept` sees the result in the order in which the messages came, before any that follows; the promise resolves
   * with its answer, later. An exception in it ends the session.
   *
   * Aborting `signal` sends a `cancel` (RFC 7047, section 4.1.4). The request is answered all the same: with the error
   * `canceled`, or as usual when it was done before the server heard of it.
   */
  request<R>(
    method: string,
    params: readonly unknown[],
    accept: (result: unknown) => R,
    { signal, takePart }: RequestOptions = {},
  ): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    if (this.#end !== undefined) {
      reject(this.#end)
      return promise
    }
    const id = this.#nextId++
    this.#pending.set(id, {
      method,
      takePart,
      reject,
      accept: (result) => {
        try {
          resolve(accept(result))
        } catch (error) {
          reject(error)
          throw error
        }
      },
    })
    this.#send({ method, params, id })
    if (signal === undefined) return promise
    const cancel = (): void => this.#send({ method: 'cancel', params: [id], id: null })
    signal.addEventListener('abort', cancel, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', cancel))
  }

  /** Ends the session. Requests without an answer are rejected with `cause`. */
  end(cause: Error): void {
    if (this.#end !== undefined) return
    this.#end = cause
    clearTimeout(this.#probe)
    this.#stream.destroy()
    this.#options.onEnd?.(cause)
    for (const { reject } of this.#pending.values()) reject(cause)
    this.#pending.clear()
    this.#ended.resolve(cause)
  }

  [Symbol.dispose](): void {
    this.lose('closed by the client')
  }

  /** Ends the session as lost, and says why. */
  lose(reason: string, cause?: unknown): void {
    this.end(new ConnectionLostError(this.#options.endpoint, reason, cause))
  }

  #send(message: object): void {
    this.#stream.write(JSON.stringify(message))
  }

  #receive(chunk: Buffer): void {
    this.#chunks++
    this.#probe?.refresh()
    this.#pace(chunk.length)
    try {
      for (const message of this.#frames.push(chunk)) {
        if (this.#end !== undefined) return
        this.#dispatch(message)
      }
    } catch (error) {
      const isKnown = error instanceof KubeOvnError
      this.end(isKnown ? error : new ProtocolError('message could not be handled', String(error), error))
    }
  }

  #pace(bytes: number): void {
    this.#bytesThisTurn += bytes
    if (this.#bytesThisTurn < bytesPerTurn) return
    this.#bytesThisTurn = 0
    this.#stream.pause()
    setImmediate(() => this.#stream.resume())
  }

  /** What a message is about comes first in it, as ovsdb-server writes it. If not, it is collected as a whole. */
  #takePart(message: object, [member, ...path]: Path, members: object): boolean {
    const { id, method, params, result } = message as Readonly<Record<string, unknown>>
    if (member === 'params' && typeof method === 'string') {
      return this.#options.takePart?.(method, { whole: params, path, members }) ?? false
    }
    if (member !== 'result' || typeof id !== 'number') return false
    return this.#pending.get(id)?.takePart?.({ whole: result, path, members }) ?? false
  }

  #dispatch(message: unknown): void {
    const { id, method, params, result, error } = message as Readonly<Record<string, unknown>>
    if (typeof method === 'string') {
      const list = Array.isArray(params) ? params : []
      if (id === null || id === undefined) this.#options.onNotification(method, list)
      else if (method === 'echo') this.#send({ id, result: list, error: null })
      else this.#send({ id, result: null, error: 'unknown method' })
      return
    }
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined
    if (pending === undefined) throw new ProtocolError('answer to no request', message)
    this.#pending.delete(id as number)
    if (error === null || error === undefined) pending.accept(result)
    else pending.reject(requestRefused(pending.method, error))
  }

  /**
   * Nothing came for as long as the peer may be silent.
   *
   * Only the answer to the echo is a sign of life that counts: what else comes in between may be swallowed by a garbled
   * message that never ends.
   */
  #endSilence(): void {
    this.#probe?.refresh()
    if (!this.#isAskedForEcho) {
      this.#isAskedForEcho = true
      const earlier = [...this.#pending].filter(([, { method }]) => method !== 'transact').map(([id]) => id)
      this.request('echo', [], () => {
        this.#isAskedForEcho = false
        // The server answers in order, but for transactions, which may wait: what it passed over will not be answered.
        if (earlier.some((id) => this.#pending.has(id))) this.lose('an answer never came')
      }).catch(() => undefined)
      return
    }
    // When it was this process that was busy, the answer lies unread in the socket: look there first.
    const chunks = this.#chunks
    setImmediate(() => {
      if (this.#isAskedForEcho && this.#chunks === chunks) this.lose('no answer to an inactivity probe')
    })
  }
}
