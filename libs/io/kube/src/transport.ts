import { setTimeout as wait } from 'node:timers/promises'
import { buildConnector, Pool, type Dispatcher } from 'undici'
import {
  authenticationHeaders,
  tlsOptions,
  type Authentication,
  type ClusterAccess,
} from './cluster-access.ts'
import { KubeConnectionError, KubeTooManyRequestsError } from './errors.ts'
import { errorOfStatus, parseStatus } from './status.ts'

export interface TransportOptions {
  readonly userAgent: string
  /** Requests under way at a time; watches do not count. */
  readonly connections: number
  /** Time to wait for the head of an answer, and between two pieces of its body. */
  readonly timeoutMs: number
  /** A watch that is silent for so long is taken for dead. The server sends a bookmark about every minute. */
  readonly watchSilenceMs: number
  /**
   * How often a request is sent again when the server asks for that, after the time that it says. When that is longer than `timeoutMs`, the
   * request is not sent again: its error says how long.
   */
  readonly repeats: number
  /** Ends every request, those under way and those to come, as the signal of a request ends that one. */
  readonly signal?: AbortSignal
  /** Told of each request when the head of its answer is there, or when there is none. */
  readonly onAnswer?: (request: AnsweredHead) => void
}

/** What a request came to. */
interface AnsweredHead {
  readonly method: string
  readonly path: string
  /** Of the server. */
  readonly host: string
  /** `undefined` when there was no answer. */
  readonly status: number | undefined
  readonly ms: number
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, from `/api` or `/apis` on. */
  readonly path: string
  readonly body?: string
  readonly contentType?: string
  readonly signal?: AbortSignal | undefined
}

interface Pools {
  readonly authentication: Authentication
  readonly requests: Pool
  readonly watches: Pool
}

/** Connections to one API server: kept alive, authenticated, checked. */
export class Transport implements AsyncDisposable {
  readonly #access: ClusterAccess
  readonly #options: TransportOptions
  readonly #prefix: string
  readonly #origin: string
  /** Of the server, as metrics tell it. */
  readonly #host: string
  #pools: Pools | undefined
  readonly #closing = new AbortController()
  /** Of all connections, also those that are not made yet. */
  readonly #end: AbortSignal

  constructor(access: ClusterAccess, options: TransportOptions) {
    const url = new URL(access.server)
    this.#access = access
    this.#options = options
    const closing = this.#closing.signal
    this.#end = options.signal === undefined ? closing : AbortSignal.any([options.signal, closing])
    this.#origin = url.origin
    this.#host = url.host
    this.#prefix = url.pathname.replace(/\/+$/, '')
  }

  /** Yields the body of a successful answer; throws the typed error of any other. */
  async send(asked: HttpRequest): Promise<string> {
    const request = this.#ending(asked)
    const answer = await this.#dispatch(request, false)
    return await this.#read(request, answer.body)
  }

  /** Yields the body of a successful answer as it comes. Leaving the iteration closes the connection. */
  async stream(asked: HttpRequest): Promise<AsyncIterable<Uint8Array>> {
    const request = this.#ending(asked)
    const answer = await this.#dispatch(request, true)
    return this.#pieces(request, answer.body)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    const pools = this.#pools
    this.#pools = undefined
    await Promise.all([pools?.requests.destroy(), pools?.watches.destroy()])
  }

  /** The request, which ends with the client's signal too. */
  #ending(request: HttpRequest): HttpRequest {
    const { signal } = this.#options
    if (signal === undefined) return request
    return {
      ...request,
      signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]),
    }
  }

  /** Sends until the server takes the request, which it has not begun with when it asks to come later. */
  async #dispatch(request: HttpRequest, isStream: boolean): Promise<Dispatcher.ResponseData> {
    for (let left = this.#options.repeats; ; left--) {
      try {
        return await this.#sendOnce(request, isStream)
      } catch (error) {
        if (!(error instanceof KubeTooManyRequestsError) || left === 0) throw error
        const { retryAfterMs } = error.details
        if (retryAfterMs > this.#options.timeoutMs) throw error
        await this.#patience(request, retryAfterMs)
      }
    }
  }

  /** Ends early with the request, and with the client. */
  async #patience(request: HttpRequest, ms: number): Promise<void> {
    const signal = request.signal === undefined ? this.#end : AbortSignal.any([request.signal, this.#end])
    try {
      await wait(ms, undefined, { signal })
    } catch (cause) {
      throw this.#lost(request, cause)
    }
  }

  /** Sends, and once more with renewed credentials when these were refused: tokens and certificates get replaced. */
  async #sendOnce(request: HttpRequest, isStream: boolean): Promise<Dispatcher.ResponseData> {
    const refused = await this.#access.authenticate(false)
    const first = await this.#attempt(request, isStream, refused)
    if (first.statusCode !== 401) return this.#accept(request, first)
    await this.#read(request, first.body)
    const renewed = await this.#access.authenticate(true)
    if (isSame(refused, renewed)) throw errorOfStatus(request, 401, { message: 'Unauthorized' })
    return this.#accept(request, await this.#attempt(request, isStream, renewed))
  }

  async #accept(request: HttpRequest, answer: Dispatcher.ResponseData): Promise<Dispatcher.ResponseData> {
    if (answer.statusCode < 300) return answer
    const body = await this.#read(request, answer.body)
    const retryAfter = answer.headers['retry-after']
    throw errorOfStatus(
      request,
      answer.statusCode,
      parseStatus(body),
      typeof retryAfter === 'string' ? retryAfter : undefined,
    )
  }

  async #attempt(
    request: HttpRequest,
    isStream: boolean,
    authentication: Authentication,
  ): Promise<Dispatcher.ResponseData> {
    const startedMs = performance.now()
    const told = (status: number | undefined): void => {
      const { method, path } = request
      const ms = performance.now() - startedMs
      this.#options.onAnswer?.({ method, path, host: this.#host, status, ms })
    }
    try {
      const pools = this.#poolsFor(authentication)
      const answer = await (isStream ? pools.watches : pools.requests).request({
        method: request.method,
        path: `${this.#prefix}${request.path}`,
        headers: {
          accept: 'application/json',
          'user-agent': this.#options.userAgent,
          ...authenticationHeaders(authentication),
          ...(request.body === undefined
            ? {}
            : { 'content-type': request.contentType ?? 'application/json' }),
        },
        body: request.body ?? null,
        signal: request.signal ?? null,
      })
      told(answer.statusCode)
      return answer
    } catch (cause) {
      if (request.signal?.aborted !== true) told(undefined)
      throw this.#lost(request, cause)
    }
  }

  async #read(request: HttpRequest, body: Dispatcher.ResponseData['body']): Promise<string> {
    try {
      return await body.text()
    } catch (cause) {
      throw this.#lost(request, cause)
    }
  }

  async *#pieces(
    request: HttpRequest,
    body: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* body
    } catch (cause) {
      throw this.#lost(request, cause)
    }
  }

  /** An abort by the caller stays what it is; all else is a lost connection. */
  #lost(request: HttpRequest, cause: unknown): unknown {
    if (request.signal?.aborted === true) return request.signal.reason
    const { method, path } = request
    return new KubeConnectionError(
      'API server did not answer',
      { method, path, endpoint: this.#origin },
      { cause },
    )
  }

  /** A connection is bound to its client certificate, so new ones are opened when that changes. */
  #poolsFor(authentication: Authentication): Pools {
    if (this.#closing.signal.aborted) throw new Error('Client was disposed')
    const known = this.#pools
    if (
      known?.authentication.certificate === authentication.certificate &&
      known?.authentication.privateKey === authentication.privateKey &&
      known !== undefined
    ) {
      if (known.authentication.authorization !== authentication.authorization) {
        this.#pools = { ...known, authentication }
        return this.#pools
      }
      return known
    }
    // Requests under way finish on the old connections.
    void known?.requests.close()
    void known?.watches.close()
    this.#pools = {
      authentication,
      requests: this.#openPool(authentication, this.#options.connections, this.#options.timeoutMs),
      watches: this.#openPool(authentication, null, this.#options.watchSilenceMs),
    }
    return this.#pools
  }

  #openPool(authentication: Authentication, connections: number | null, bodyTimeout: number): Pool {
    return new Pool(this.#origin, {
      connections,
      pipelining: 1,
      // One connection for all requests would make a large list hold up every small one.
      allowH2: false,
      headersTimeout: this.#options.timeoutMs,
      bodyTimeout,
      keepAliveTimeout: 30_000,
      // A request waits for its connection, whatever its own signal says.
      connect: connectorUntil(this.#end, {
        ...{ timeout: 10_000, allowH2: false, maxCachedSessions: 0 },
        ...tlsOptions(this.#access, authentication),
      }),
    })
  }
}

/**
 * Connects, and gives up a connection that is not made yet when `end` comes. A socket listens at its signal for as long as that lives,
 * not for as long as the socket does: each gets a signal of its own, or none would ever be collected.
 */
function connectorUntil(end: AbortSignal, options: buildConnector.BuildOptions): buildConnector.connector {
  return (asked, callback) => {
    const dial = new AbortController()
    const giveUp = (): void => dial.abort(end.reason)
    end.addEventListener('abort', giveUp)
    if (end.aborted) giveUp()
    const connect = buildConnector({ ...options, signal: dial.signal })
    connect(asked, (...result) => {
      end.removeEventListener('abort', giveUp)
      callback(...result)
    })
  }
}

function isSame(a: Authentication, b: Authentication): boolean {
  return (
    a.authorization === b.authorization && a.certificate === b.certificate && a.privateKey === b.privateKey
  )
}
