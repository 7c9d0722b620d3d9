import { ConnectionLostError, SchemaMismatchError } from './errors.ts'
import { layoutTable } from './layout.ts'
import {
  conditionChanges,
  type Contents,
  type MonitorMethod,
  type MonitorRequests,
  partOfUpdates,
  planRequests,
  readUpdate,
  requestMonitor,
  type WireConditions,
  wireConditions,
} from './monitor-request.ts'
import { RowCache, type RowDifference } from './row-cache.ts'
import type { Part, Session } from './session.ts'
import { IncomingDump, type IncomingRows, IncomingUpdate } from './table-updates.ts'
import type { Condition, ConditionalSelection, DatabaseSchema, Tables } from './types.ts'

/** Names no transaction: a server that is asked for what came after it sends everything. */
const noTransaction = '00000000-0000-0000-0000-000000000000'

/**
 * Keeps the rows of one database up to date over any number of sessions, one after the other.
 *
 * @see ovsdb-server(7), section 4.1.15, Monitor_cond_since
 */
export class Monitor<T extends Tables> {
  readonly cache: RowCache<T>
  readonly #database: string
  readonly #onDifferences: (differences: readonly RowDifference[]) => void
  readonly #schema: DatabaseSchema
  /** Conditions by table, as they are wanted. */
  readonly #conditions: Map<string, WireConditions>
  #lastTransaction = noTransaction
  /** What the cache shows, as text; empty while that is not certain. */
  #lastRequest = ''
  /** What the server was asked for last, and by which method. */
  #active: { readonly offered: DatabaseSchema; readonly method: MonitorMethod } | undefined
  #requests: MonitorRequests = {}
  #conditionChanges = 0
  /** What has come of an update that is still arriving. */
  #incoming: IncomingRows | undefined

  constructor(
    schema: DatabaseSchema,
    tables: Readonly<Record<string, ConditionalSelection | undefined>>,
    onDifferences: (differences: readonly RowDifference[]) => void,
  ) {
    const selections = Object.entries(tables).flatMap(([table, selection]) =>
      selection === undefined ? [] : [[table, selection] as const],
    )
    this.cache = new RowCache(selections.map(([table, selection]) => layoutTable(schema, table, selection)))
    this.#conditions = new Map(
      selections.flatMap(([table, { where }]) =>
        where === undefined ? [] : [[table, wireConditions(schema, table, where)]],
      ),
    )
    this.#schema = schema
    this.#database = schema.name
    this.#onDifferences = onDifferences
  }

  /**
   * Starts monitoring. When it resolves, the cache is what the server has.
   *
   * Answers what `offered`, the server's own schema, lacks, as `table` or `table.column`; such columns keep their default.
   */
  async start(session: Session, offered: DatabaseSchema): Promise<readonly string[]> {
    const { requests, missing } = planRequests(this.cache.layouts, this.#conditions, offered)
    const text = JSON.stringify(requests)
    // With other columns than before, the updates since then would not tell their present values.
    const since = text === this.#lastRequest ? this.#lastTransaction : noTransaction
    this.#lastRequest = ''
    this.#requests = requests
    this.#active = undefined
    this.#incoming = undefined
    const change = ++this.#conditionChanges
    let incoming: IncomingRows | undefined
    const begin = (isResumed: boolean): IncomingRows =>
      (incoming ??= isResumed ? new IncomingUpdate(this.cache) : new IncomingDump(this.cache))
    try {
      const method = await requestMonitor(session, [this.#database, requests, since], {
        take: (isResumed, { table, rows }) => begin(isResumed).take(table, rows),
        accept: ({ isResumed, contents }) => {
          this.#apply(begin(isResumed), contents)
          if (change === this.#conditionChanges) this.#lastRequest = text
        },
      })
      this.#active = { offered, method }
    } catch (error) {
      if (!session.hasEnded || !(error instanceof ConnectionLostError)) this.forget()
      throw error
    }
    await this.changeConditions(session)
    return missing
  }

  /** Says which rows of a table are wanted; `undefined` for all. Throws `SchemaMismatchError`. */
  want(table: string, where: readonly Condition[] | undefined): void {
    if (this.cache.layout(table) === undefined)
      throw new SchemaMismatchError(table, undefined, undefined, 'a table that was selected')
    if (where === undefined) this.#conditions.delete(table)
    else this.#conditions.set(table, wireConditions(this.#schema, table, where))
  }

  /** Asks the server for the rows that are wanted by now. When it resolves, the cache has them and no others. */
  async changeConditions(session: Session): Promise<void> {
    if (this.#active === undefined || this.#active.method === 'monitor') return
    const { requests } = planRequests(this.cache.layouts, this.#conditions, this.#active.offered)
    const changes = conditionChanges(this.#requests, requests)
    if (Object.keys(changes).length === 0) return
    this.#requests = requests
    this.#lastRequest = ''
    const change = ++this.#conditionChanges
    await session.request('monitor_cond_change', [this.#database, this.#database, changes], () => {
      if (change === this.#conditionChanges) this.#lastRequest = JSON.stringify(requests)
    })
  }

  /** Takes part of a long `update3`, while it is still arriving. Answers whether it did. */
  takePart(method: string, { whole, path, members }: Part): boolean {
    const part = partOfUpdates(path, members)
    const isOurs = method === 'update3' && Array.isArray(whole) && whole[0] === this.#database
    if (part === undefined || !isOurs) return false
    const incoming = (this.#incoming ??= new IncomingUpdate(this.cache))
    this.#orForget(() => incoming.take(part.table, part.rows))
    return true
  }

  /** Takes an `update`, `update2` or `update3`. It may belong to another monitor. */
  update(method: string, params: readonly unknown[]): void {
    if (params[0] !== this.#database) return
    const incoming = this.#incoming ?? new IncomingUpdate(this.cache)
    this.#incoming = undefined
    this.#orForget(() => this.#apply(incoming, readUpdate(method, params)))
  }

  /** Lets the next start ask for everything. */
  forget(): void {
    this.#lastTransaction = noTransaction
  }

  /** An update that fails shows that the cache is not what the server takes it for. */
  #orForget(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.forget()
      throw error
    }
  }

  #apply(incoming: IncomingRows, { transaction, updates }: Contents): void {
    for (const [table, rows] of Object.entries(updates)) incoming.take(table, rows)
    const differences = incoming.apply()
    this.#lastTransaction = transaction ?? noTransaction
    if (differences.length > 0) this.#onDifferences(differences)
  }
}
