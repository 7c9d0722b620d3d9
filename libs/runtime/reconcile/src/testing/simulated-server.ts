import {
  ClientClosedError,
  ConstraintViolationError,
  DuplicateUuidError,
  NotConnectedError,
  ReferentialIntegrityError,
  ServerResourceError,
  TransactionOutcomeUnknownError,
  type Operation,
  type OperationResult,
  type RowBase,
  type RowChange,
} from 'ovsdb-client'
import type { Database, DatabaseState } from '../database.ts'
import { LocalRows } from '../local-rows.ts'
import { schema } from '../plan-fixture.ts'
import type { Step } from '../steps.ts'
import { stepsOf } from './wire-steps.ts'

/** What becomes of a request, decided when it is sent or when it has taken effect. */
export type Fate = 'fine' | 'disconnect' | 'delay' | 'refuse'

interface SimulatedClientOptions {
  /** Called before a transaction takes effect. */
  readonly onTransact: () => Fate
  /** Called after it took effect, before its answer. */
  readonly onCommitted: () => Fate
}

/** A database server in memory. What is under way when its clients are cut off is carried out, or not, as they say. */
export class SimulatedServer {
  readonly rows = new LocalRows(schema)
  /** Transactions that had an effect or could have had one. */
  transactions = 0
  readonly #clients = new Set<SimulatedClient>()

  open(options: SimulatedClientOptions): SimulatedClient {
    const client = new SimulatedClient(this, options, () => this.#clients.delete(client))
    this.#clients.add(client)
    return client
  }

  /** Carries steps out and tells everybody who is connected. */
  apply(steps: readonly Step[]): void {
    refuseBadValues(steps)
    try {
      this.rows.apply(steps)
    } catch (error) {
      const isDouble = String(error).includes('duplicate uuid')
      throw isDouble
        ? new DuplicateUuidError(details('duplicate uuid'))
        : new ReferentialIntegrityError(details(String(error)))
    }
    this.transactions++
    for (const client of this.#clients) client.synchronise()
  }
}

/** No address is `bad`: what a constraint of the schema would say. */
function refuseBadValues(steps: readonly Step[]): void {
  for (const step of steps) {
    if (!('columns' in step) || !JSON.stringify(step.columns['addresses'] ?? '').includes('bad')) continue
    throw new ConstraintViolationError(details('constraint violation', step.table))
  }
}

function details(error: string, table?: string) {
  return { error, explanation: undefined, operation: undefined, op: undefined, table }
}

/** A connection with a cache: what the kernel sees of the server. */
export class SimulatedClient implements Database, Disposable {
  readonly cache = new LocalRows(schema)
  state: DatabaseState = { phase: 'connected' }
  readonly #server: SimulatedServer
  readonly #options: SimulatedClientOptions
  readonly #onClose: () => void
  readonly #stateListeners = new Set<(state: DatabaseState) => void>()
  readonly #changeListeners = new Set<(changes: readonly RowChange[]) => void>()
  #delayed: (readonly Step[])[] = []

  constructor(server: SimulatedServer, options: SimulatedClientOptions, onClose: () => void) {
    this.#server = server
    this.#options = options
    this.#onClose = onClose
    this.synchronise()
  }

  onState(listener: (state: DatabaseState) => void): Disposable {
    this.#stateListeners.add(listener)
    return { [Symbol.dispose]: () => void this.#stateListeners.delete(listener) }
  }

  onChange(listener: (changes: readonly RowChange[]) => void): Disposable {
    this.#changeListeners.add(listener)
    return { [Symbol.dispose]: () => void this.#changeListeners.delete(listener) }
  }

  async transact(operations: readonly Operation[]): Promise<readonly OperationResult[]> {
    if (this.state.phase !== 'connected') throw new NotConnectedError(schema.name, undefined)
    const steps = stepsOf(operations)
    await turn()
    const fate = this.#options.onTransact()
    this.#assertOpen()
    if (fate === 'refuse') throw new ServerResourceError(details('resources exhausted'))
    if (fate === 'delay') this.#delayed.push(steps)
    if (fate === 'delay' || fate === 'disconnect' || !this.#isConnected) throw this.#lost()
    this.#server.apply(steps)
    const after = this.#options.onCommitted()
    this.#assertOpen()
    if (after === 'disconnect' || after === 'delay' || !this.#isConnected) throw this.#lost()
    return operations.map(() => ({}))
  }

  /** Takes over what the server has, as a notification does, or a dump after a reconnect. */
  synchronise(): void {
    if (!this.#isConnected) return
    const changes = differences(this.cache, this.#server.rows)
    if (changes.length === 0) return
    this.cache.follow(changes)
    for (const listener of this.#changeListeners) listener(changes)
  }

  disconnect(): void {
    if (this.#isConnected) this.#setPhase('waiting')
  }

  reconnect(): void {
    if (this.state.phase !== 'waiting') return
    this.state = { phase: 'connected' }
    this.synchronise()
    this.#setPhase('connected')
    const delayed = this.#delayed
    this.#delayed = []
    for (const steps of delayed) {
      // What it refers to may be gone by now.
      try {
        this.#server.apply(steps)
      } catch {
        continue
      }
    }
  }

  [Symbol.dispose](): void {
    this.#setPhase('closed')
    this.#onClose()
  }

  get #isConnected(): boolean {
    return this.state.phase === 'connected'
  }

  #lost(): Error {
    this.disconnect()
    return new TransactionOutcomeUnknownError(schema.name, undefined)
  }

  #assertOpen(): void {
    if (this.state.phase === 'closed') throw new ClientClosedError(schema.name)
  }

  #setPhase(phase: string): void {
    this.state = { phase }
    for (const listener of this.#stateListeners) listener(this.state)
  }
}

/** A later turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function differences(before: LocalRows, after: LocalRows): readonly RowChange[] {
  return Object.keys(schema.tables).flatMap((table) => {
    const olds = new Map([...before.scan(table)].map((row) => [row._uuid, row]))
    const news = new Map([...after.scan(table)].map((row) => [row._uuid, row]))
    return [...new Set([...olds.keys(), ...news.keys()])].flatMap((uuid): readonly RowChange[] => {
      const [old, fresh] = [olds.get(uuid), news.get(uuid)]
      if (JSON.stringify(old) === JSON.stringify(fresh)) return []
      return [{ table, uuid, old, new: fresh && old ? sharing(fresh, old) : fresh }]
    })
  })
}

/** A cache shares the columns that stay the same. */
function sharing(fresh: RowBase, old: RowBase): RowBase {
  const before = new Map(Object.entries(old) as [string, unknown][])
  const columns = Object.entries(fresh).map(([name, value]: [string, unknown]): [string, unknown] => {
    const kept = before.get(name)
    return [name, JSON.stringify(kept) === JSON.stringify(value) ? kept : value]
  })
  return Object.assign({ ...fresh }, Object.fromEntries(columns))
}
