import { KubeOvnError } from '@kube-ovn/errors'
import type { Logger } from '@kube-ovn/log'
import type { DatabaseMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'

/** What a client of a database tells of its connection. An `OvsdbClient` does. */
interface ConnectionState {
  readonly phase: string
  readonly endpoint?: string
  /** Why there is none. */
  readonly cause?: Error | undefined
  /** How the database is another one than before. */
  readonly replaced?: string | undefined
}

export interface DatabaseConnectionOptions {
  readonly client: {
    readonly state: ConnectionState
    onState(listener: (state: ConnectionState) => void): Disposable
  }
  /** Name in the database's schema. */
  readonly db: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: DatabaseMetrics
  /** What else may show, with a new connection, how the database is another one than before. */
  readonly replaced?: () => string | undefined
  onReplaced?(how: string): void
}

/** A connection is made anew in less time where another server takes over; what takes longer is told, and counts against readiness. */
const graceMs = 10_000

/** Tells by log, metric and readiness whether a database is connected: each change once. */
export class DatabaseConnection implements Disposable {
  readonly #options: DatabaseConnectionOptions
  readonly #subscription: Disposable
  #isConnected = false
  #sinceMs: number
  #cause: Error | undefined
  #timer: Disposable | undefined

  constructor(options: DatabaseConnectionOptions) {
    this.#options = options
    const { client, db, clock, metrics } = options
    this.#sinceMs = clock.monotonic()
    metrics.connected(db, false)
    this.#timer = clock.setTimer(graceMs, () => this.#tellOutage())
    this.#take(client.state)
    this.#subscription = client.onState((state) => this.#take(state))
  }

  /** Why the process is not ready; `undefined` when it is, or was a moment ago. */
  get problem(): string | undefined {
    const { db, clock } = this.#options
    const downMs = clock.monotonic() - this.#sinceMs
    if (this.#isConnected || downMs < graceMs) return undefined
    return `${db} has not been connected for ${Math.round(downMs / 1000)} s: ${reasonOf(this.#cause)}`
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#subscription[Symbol.dispose]()
    this.#options.metrics.connected(this.#options.db, false)
  }

  #take(state: ConnectionState): void {
    if (state.cause !== undefined) this.#cause = state.cause
    const isConnected = state.phase === 'connected'
    if (isConnected !== this.#isConnected) this.#changed(isConnected, state)
  }

  #changed(isConnected: boolean, state: ConnectionState): void {
    const { db, clock, log, metrics } = this.#options
    const lastedMs = clock.monotonic() - this.#sinceMs
    this.#isConnected = isConnected
    this.#sinceMs = clock.monotonic()
    metrics.connected(db, isConnected)
    this.#timer?.[Symbol.dispose]()
    if (!isConnected) {
      // Who closes a connection knows.
      if (state.phase === 'closed') return
      this.#timer = clock.setTimer(graceMs, () => this.#tellOutage())
      log.warn('database connection lost', { db, err: state.cause })
      return
    }
    this.#cause = undefined
    const { endpoint = '' } = state
    log.info('database connected', { db, endpoint, ms: Math.round(lastedMs) })
    const otherwise = this.#options.replaced?.()
    const how = state.replaced ?? otherwise
    if (how === undefined) return
    log.warn('database was replaced', { db, endpoint, reason: how })
    metrics.replaced(db)
    this.#options.onReplaced?.(how)
  }

  #tellOutage(): void {
    const { db, log } = this.#options
    log.error('database not connected', { db, ms: graceMs, err: this.#cause })
  }
}

interface Explanation {
  readonly reason?: unknown
  readonly problem?: unknown
  readonly file?: unknown
  readonly cure?: unknown
}

/** What is at the bottom of a failure that somebody can do something about, in words. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no server has answered yet'
  const details: Explanation = error instanceof KubeOvnError ? error.details : {}
  const { reason, problem = error.message, file, cure } = details
  if (typeof cure === 'string') return `${[problem, file].filter(Boolean).join(', ')}: ${cure}`
  if (error.cause instanceof Error) return reasonOf(error.cause)
  return typeof reason === 'string' ? reason : error.message
}
