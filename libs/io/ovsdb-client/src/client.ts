import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Backoff, backoffDelayMs } from '@kube-ovn/time'
import type { OvsdbClientOptions } from './client-options.ts'
import type { ClientState } from './client-state.ts'
import {
  type ClusterEvent,
  initialBelief,
  isExhausted,
  replacement,
  serverSchema,
  type ServerDatabase,
  type ServerTables,
  unsuitability,
  updateBelief,
} from './cluster.ts'
import { type Endpoint, missingTls, openSocket, parseEndpoint } from './endpoint.ts'
import {
  ClientClosedError,
  ConnectFailedError,
  ConnectionLostError,
  InexactIntegerError,
  InvalidEndpointError,
  NotConnectedError,
  NotOwnerError,
  ProtocolError,
  RequestRefusedError,
  TransactionError,
  TransactionOutcomeUnknownError,
  UnsuitableServerError,
} from './errors.ts'
import { isHalfOpen } from './half-open.ts'
import { Listeners } from './listeners.ts'
import { type Lock, LockSet, type Steal } from './lock.ts'
import { Monitor } from './monitor.ts'
import { readNames, readSchema } from './offered-schema.ts'
import { ignoreUnknownMethod, startIfPresent } from './older-server.ts'
import { type Operations, operationsFor } from './operations.ts'
import type { RowDifference } from './row-cache.ts'
import { Session } from './session.ts'
import { explainTls } from './tls.ts'
import { canceled, readResults } from './transaction.ts'
import type {
  AnyRowChange,
  Cache,
  Condition,
  DatabaseSchema,
  Operation,
  OperationResult,
  TableSelection,
  Tables,
} from './types.ts'

const defaultBackoff: Backoff = { initialMs: 100, maxMs: 5_000, factor: 2, jitter: 0.5 }

/**
 * A connection to one database that keeps itself up, with a copy of the selected rows.
 *
 * While there is no connection, the cache shows what was last known. It is never half updated: a notification of the
 * server is applied as a whole, then the listeners are called.
 */
export class OvsdbClient<T extends Tables = Tables> implements AsyncDisposable {
  readonly cache: Cache<T>
  /** Builders of operations for this database. */
  readonly operations: Operations<T>
  readonly #options: OvsdbClientOptions<T>
  readonly #endpoints: readonly Endpoint[]
  readonly #monitor: Monitor<T>
  readonly #changeListeners = new Listeners<readonly AnyRowChange<T>[]>()
  readonly #stateListeners = new Listeners<ClientState>()
  readonly #serverListeners = new Listeners<ServerDatabase>()
  readonly #locks = new LockSet()
  readonly #closing = new AbortController()
  #state: ClientState = { phase: 'idle' }
  #server: ServerDatabase | undefined
  #belief
  /** How the database is another one than before, until that is told. */
  #replaced: string | undefined
  #hasExactIntegers: boolean
  /** The session of the current attempt. Transactions may use it once the state is `connected`. */
  #session: Session | undefined
  /** The one that is being asked whether it is dead. */
  #doubted: Session | undefined
  #running: Promise<void> | undefined

  /** Throws when an endpoint is malformed or lacks TLS files, or a table, column or index is not in the schema. */
  constructor(options: OvsdbClientOptions<T>) {
    if (options.endpoints.length === 0) throw new InvalidEndpointError('')
    this.#options = options
    this.#endpoints = options.endpoints.map(parseEndpoint)
    const unprotected = this.#endpoints.find(({ protocol }) => protocol === 'ssl')
    if (unprotected !== undefined && options.tls === undefined) throw missingTls(unprotected)
    this.#belief = initialBelief(this.#endpoints.length)
    this.#hasExactIntegers = options.exactIntegers === true
    // The conditions of each table are for its own row type, which is of no concern from here on.
    const tables: { readonly [N in keyof T]?: TableSelection } = options.tables
    this.#monitor = new Monitor<T>(options.schema, tables, (differences) => this.#publish(differences))
    this.cache = this.#monitor.cache
    this.operations = operationsFor<T>(options.schema)
  }

  get state(): ClientState {
    return this.#state
  }

  onState(listener: (state: ClientState) => void): Disposable {
    return this.#stateListeners.add(listener)
  }

  /** What the server says of the database; `undefined` without a connection, and of a server that is too old to say anything. */
  get server(): ServerDatabase | undefined {
    return this.#server
  }

  /** Calls `listener` whenever the server says something else of the database, such as that it leads its cluster now. */
  onServer(listener: (database: ServerDatabase) => void): Disposable {
    return this.#serverListeners.add(listener)
  }

  /**
   * Calls `listener` once for every notification of the server that changed something, and for the initial contents.
   *
   * After a reconnect it sees what differs from before, nothing else. An exception in it goes uncaught.
   */
  onChange(listener: (changes: readonly AnyRowChange<T>[]) => void): Disposable {
    return this.#changeListeners.add(listener)
  }

  /**
   * Connects, unless that has been asked for already, and resolves when the cache is what the server has.
   *
   * It does not give up by itself; aborting `signal` ends the waiting, not the client.
   */
  connect(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const check = (state: ClientState): void => {
      if (state.phase === 'connected') resolve()
      if (state.phase === 'closed') reject(new ClientClosedError(this.#options.schema.name))
    }
    const subscription = this.onState(check)
    const onAbort = (): void => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
    check(this.#state)
    this.#running ??= this.#run()
    return promise.finally(() => {
      subscription[Symbol.dispose]()
      signal?.removeEventListener('abort', onAbort)
    })
  }

  /**
   * Asks for a lock. It may be called before connecting; the same name gives the same lock.
   *
   * With `steal` whoever has it loses it at once and is told. That is for a client that knows by other means that the
   * lock is its own by right, e.g. by an election: the former owner may be cut off and never give it back. `true` is for the
   * next connection. A function is asked on each of them, and again when the lock was taken: if it says no by then, the lock is
   * given back before anything was done with it, and when it says no beforehand, it is not asked for.
   */
  lock(name: string, options: { readonly steal?: Steal } = {}): Lock {
    return this.#locks.lock(name, options.steal ?? false)
  }

  /**
   * Commits operations as one transaction. When it resolves, the cache includes what they changed.
   *
   * Rejects with `NotConnectedError` when nothing was sent, with a `TransactionError` when the server did not commit,
   * and with `TransactionOutcomeUnknownError` when the connection was lost before the answer came. Aborting `signal` cancels the
   * transaction: it then rejects with `TransactionCanceledError`, unless it was done already.
   */
  async transact(
    operations: readonly Operation[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly OperationResult[]> {
    const { name } = this.#options.schema
    const session = this.#connected()
    if (operations.length === 0) return []
    if (signal?.aborted === true) throw canceled(signal.reason)
    try {
      // The server sends the update of a transaction before the answer to it (ovsdb-server(7), section 4.1.5).
      return readResults(operations, await this.#transactOn(session, operations, signal))
    } catch (error) {
      // The next connection takes the lock before anything else is sent.
      if (error instanceof NotOwnerError && this.#locks.isRobbed) session.lose('another has the lock')
      if (error instanceof TransactionError) throw error
      if (error instanceof RequestRefusedError) {
        throw error.details.error === 'canceled' ? canceled(signal?.reason ?? error) : error
      }
      if (error instanceof ProtocolError) session.end(error)
      throw new TransactionOutcomeUnknownError(name, error)
    }
  }

  /** A server that goes on answering echoes may still never carry a transaction out: its disk, or its cluster, is stuck. */
  #transactOn(session: Session, operations: readonly Operation[], signal?: AbortSignal): Promise<unknown> {
    const { schema, transactTimeoutMs = 60_000, doubtAfterMs = 1_000 } = this.#options
    const answer = session.request('transact', [schema.name, ...operations], (result) => result, { signal })
    const limitMs = transactTimeoutMs === 0 ? Infinity : transactTimeoutMs + waitingMs(operations)
    const limit = limitedTimeout(() => session.lose('a transaction was not answered'), limitMs)
    const doubt =
      doubtAfterMs > 0
        ? setInterval(() => void this.#doubtConnection(session, doubtAfterMs), doubtAfterMs)
        : undefined
    return answer.finally(() => {
      clearTimeout(limit)
      clearInterval(doubt)
    })
  }

  /** Gives a connection up whose server answers on another one. Never rejects. */
  async #doubtConnection(session: Session, patienceMs: number): Promise<void> {
    if (this.#doubted === session) return
    this.#doubted = session
    const isDead = await isHalfOpen(session, patienceMs, () => this.#connectWitness(patienceMs))
    if (isDead) session.lose('silent, while the server answers on another connection')
    this.#doubted = undefined
  }

  async #connectWitness(inactivityProbeMs: number): Promise<Session> {
    const endpoint = this.#endpoints[this.#belief.current]
    if (endpoint === undefined) throw this.#closing.signal.reason
    const socket = await this.#open(endpoint)
    return new Session(socket, {
      endpoint: endpoint.text,
      inactivityProbeMs,
      onNotification: () => undefined,
    })
  }

  #open(endpoint: Endpoint): Promise<Socket> {
    const { connectTimeoutMs = 5_000, tls } = this.#options
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(connectTimeoutMs)])
    return openSocket(endpoint, tls, signal)
  }

  /**
   * Says from now on which rows of a table to keep; `undefined` for all. Resolves when the cache has these rows and no others.
   *
   * Without a connection, that is when there is one again. A client that was never told to connect takes note and is done.
   */
  async setConditions<N extends keyof T & string>(
    table: N,
    where: readonly Condition<T[N]>[] | undefined,
  ): Promise<void> {
    this.#monitor.want(table, where as readonly Condition[] | undefined)
    if (this.#state.phase === 'idle') return
    const session = this.#session
    if (this.#state.phase === 'connected' && session !== undefined) {
      const refusal = await this.#monitor.changeConditions(session).catch((error: unknown) => error)
      if (refusal instanceof RequestRefusedError) throw refusal
      if (refusal === undefined) return
      // The connection was lost. The next one starts with these conditions.
      await session.ended
    }
    await this.connect()
  }

  /** Asks the server for its schema of the database, which may be newer or older than the client's. */
  getSchema(): Promise<DatabaseSchema> {
    return this.#connected().request('get_schema', [this.#options.schema.name], readSchema)
  }

  /** Asks the server which databases it has. */
  listDatabases(): Promise<readonly string[]> {
    return this.#connected().request('list_dbs', [], readNames)
  }

  /** Closes the connection and stays closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new ClientClosedError(this.#options.schema.name)
    this.#closing.abort(closed)
    this.#session?.end(closed)
    await this.#running
    this.#setState({ phase: 'closed' })
  }

  /** The session of a connection that is in use. Throws {@link NotConnectedError}. */
  #connected(): Session {
    if (this.#state.phase === 'connected' && this.#session !== undefined) return this.#session
    const cause = this.#state.phase === 'waiting' ? this.#state.cause : undefined
    throw new NotConnectedError(this.#options.schema.name, cause)
  }

  async #run(): Promise<void> {
    let cause: Error | undefined
    while (!this.#closing.signal.aborted) {
      const endpoint = this.#endpoints[this.#belief.current]
      if (endpoint === undefined) return
      this.#setState({ phase: 'connecting', endpoint: endpoint.text, cause })
      this.#believe({ type: 'tried' })
      cause = await this.#serve(endpoint)
      if (causedBy(cause, InexactIntegerError)) this.#hasExactIntegers = true
      this.#believe({ type: 'failed' })
      if (isExhausted(this.#belief)) await this.#pause(cause)
    }
  }

  async #pause(cause: Error): Promise<void> {
    if (this.#closing.signal.aborted) return
    const delayMs = backoffDelayMs(this.#options.backoff ?? defaultBackoff, this.#belief.pauses, Math.random)
    this.#believe({ type: 'paused' })
    this.#setState({ phase: 'waiting', delayMs, cause })
    await pause(delayMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  /** Works with one endpoint until that ends, and answers why it did. Never rejects. */
  async #serve(endpoint: Endpoint): Promise<Error> {
    const { inactivityProbeMs = 10_000, tls, backoff = defaultBackoff } = this.#options
    let session: Session | undefined
    let lasting: NodeJS.Timeout | undefined
    try {
      const socket = await this.#open(endpoint)
      const server: Monitor<ServerTables> = new Monitor<ServerTables>(
        serverSchema,
        { Database: { indexes: ['name'] } },
        () => this.#assess(server, endpoint),
      )
      session = new Session(socket, {
        endpoint: endpoint.text,
        inactivityProbeMs,
        hasExactIntegers: this.#hasExactIntegers,
        onNotification: (method, params) => this.#notified(server, endpoint, method, params),
        onEnd: (cause) => this.#disconnected(cause),
        takePart: (method, part) => server.takePart(method, part) || this.#monitor.takePart(method, part),
      })
      this.#session = session
      this.#closing.signal.throwIfAborted()
      const missing = await this.#synchronise(session, server, endpoint)
      const replaced = this.#replaced
      this.#replaced = undefined
      this.#setState({ phase: 'connected', endpoint: endpoint.text, missing, replaced })
      lasting = setTimeout(() => this.#believe({ type: 'lasted' }), backoff.maxMs)
      return await session.ended
    } catch (error) {
      const reason = tls === undefined ? error : explainTls(endpoint.text, tls, error)
      const failure = new ConnectFailedError(endpoint.text, reason)
      session?.end(failure)
      return failure
    } finally {
      clearTimeout(lasting)
      this.#session = undefined
      this.#server = undefined
      this.#locks.detach()
    }
  }

  /** Whoever learns that a transaction was not answered must not find this client connected and its cache up to date. */
  #disconnected(cause: Error): void {
    if (this.#state.phase !== 'connected' || this.#closing.signal.aborted) return
    this.#setState({ phase: 'waiting', delayMs: 0, cause })
  }

  async #synchronise(
    session: Session,
    server: Monitor<ServerTables>,
    endpoint: Endpoint,
  ): Promise<readonly string[]> {
    const { name } = this.#options.schema
    // Or else the server would hang up whenever any of its databases comes, goes or gets another schema.
    await session.request('set_db_change_aware', [true], () => undefined).catch(ignoreUnknownMethod)
    if (await startIfPresent(server, session)) this.#assess(server, endpoint)
    this.#locks.attach(session)
    const offered = await session.request('get_schema', [name], readSchema)
    const missing = await this.#monitor.start(session, offered)
    const [database] = server.cache.find('Database', 'name', name)
    // What was sent to the leader before may be in the log of this one, yet not committed. A server of a cluster carries
    // out no transaction, not even this empty one, before it has applied its log, and the updates come before the answer.
    if (database?.model === 'clustered') await this.#transactOn(session, [])
    return missing
  }

  /** Throws when the server must not be used, or not any more. */
  #assess(server: Monitor<ServerTables>, endpoint: Endpoint): void {
    const { schema, leaderOnly = false } = this.#options
    const [database] = server.cache.find('Database', 'name', schema.name)
    const others = [...server.cache.scan('Database')].map((other) => other.name)
    if (database !== undefined) this.#doubt(database)
    const reason = unsuitability(this.#belief, database, leaderOnly, others)
    if (reason !== undefined) throw new UnsuitableServerError(endpoint.text, schema.name, reason)
    if (database === undefined) return
    this.#believe({ type: 'observed', database })
    this.#server = database
    this.#serverListeners.emit(database)
  }

  /** Takes the database for another one than before, if the servers agree on that. */
  #doubt(database: ServerDatabase): void {
    const { replacedAfterMs = 10_000 } = this.#options
    const nowMs = performance.now()
    this.#believe({ type: 'heard', database, atMs: nowMs })
    const replaced = replacement(this.#belief, database, replacedAfterMs, nowMs)
    if (replaced === undefined) return
    this.#replaced = replaced
    this.#believe({ type: 'replaced' })
    this.#monitor.forget()
  }

  #notified(
    server: Monitor<ServerTables>,
    endpoint: Endpoint,
    method: string,
    params: readonly unknown[],
  ): void {
    switch (method) {
      case 'update':
      case 'update2':
      case 'update3':
        server.update(method, params)
        this.#monitor.update(method, params)
        break
      case 'locked':
      case 'stolen':
        this.#locks.notified(method, params[0])
        break
      case 'monitor_canceled':
        // The database was converted to another schema, or removed.
        if (params[0] !== this.#options.schema.name) break
        this.#monitor.forget()
        this.#session?.end(new ConnectionLostError(endpoint.text, 'the server canceled the monitor'))
        break
    }
  }

  #publish(differences: readonly RowDifference[]): void {
    this.#changeListeners.emit(differences as readonly AnyRowChange<T>[])
  }

  #believe(event: ClusterEvent): void {
    this.#belief = updateBelief(this.#belief, event)
  }

  #setState(state: ClientState): void {
    this.#state = state
    this.#stateListeners.emit(state)
  }
}

/** What `setTimeout` takes at most. */
const longestTimerMs = 2 ** 31 - 1

/** A timer that never ends has no handle. */
function limitedTimeout(end: () => void, limitMs: number): NodeJS.Timeout | undefined {
  return limitMs > longestTimerMs ? undefined : setTimeout(end, limitMs)
}

/** How long the operations themselves may take. A `wait` without a time waits for ever (RFC 7047, section 5.2.6). */
function waitingMs(operations: readonly Operation[]): number {
  const waits = operations.filter(({ op }) => op === 'wait')
  return waits.reduce((sum, { timeout }) => sum + (typeof timeout === 'number' ? timeout : Infinity), 0)
}

function causedBy(error: unknown, type: abstract new (...args: never[]) => Error): boolean {
  return error instanceof type || (error instanceof Error && causedBy(error.cause, type))
}
