import { ProtocolError } from './errors.ts'
import { layoutTable } from './layout.ts'
import { RowCache, type RowDifference } from './row-cache.ts'
import type { Session } from './session.ts'
import { planDump, planUpdate, type TableUpdates } from './table-updates.ts'
import type { DatabaseSchema, TableSelection, Tables } from './types.ts'

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
  #lastTransaction = noTransaction
  /** Table → columns, as the last request had them, as text. */
  #lastRequest = ''

  constructor(
    schema: DatabaseSchema,
    tables: { readonly [N in keyof T]?: TableSelection },
    onDifferences: (differences: readonly RowDifference[]) => void,
  ) {
    const selections = Object.entries<TableSelection | undefined>(tables)
    this.cache = new RowCache(
      selections.flatMap(([table, selection]) =>
        selection === undefined ? [] : [layoutTable(schema, table, selection)],
      ),
    )
    this.#database = schema.name
    this.#onDifferences = onDifferences
  }

  /**
   * Starts monitoring. When it resolves, the cache is what the server has.
   *
   * Answers what `offered`, the server's own schema, lacks, as `table` or `table.column`; such columns keep their default.
   */
  async start(session: Session, offered: DatabaseSchema): Promise<readonly string[]> {
    const { requests, missing } = this.#requests(offered)
    const text = JSON.stringify(requests)
    // With other columns than before, the updates since then would not tell their present values.
    const since = text === this.#lastRequest ? this.#lastTransaction : noTransaction
    this.#lastRequest = ''
    const params = [this.#database, this.#database, requests, since]
    await session.request('monitor_cond_since', params, (result) => {
      const [isResumed, transaction, updates] = dumpParts(result)
      const plan = isResumed ? planUpdate : planDump
      this.#apply(plan(this.cache, updates), transaction)
      this.#lastRequest = text
    })
    return missing
  }

  /** Takes the parameters of an `update3`. They may belong to another monitor. */
  update([id, transaction, updates]: readonly unknown[]): void {
    if (id !== this.#database) return
    if (typeof transaction !== 'string')
      throw new ProtocolError('update without a transaction id', transaction)
    try {
      this.#apply(planUpdate(this.cache, updates as TableUpdates), transaction)
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** Lets the next start ask for everything. */
  forget(): void {
    this.#lastTransaction = noTransaction
  }

  #apply(differences: readonly RowDifference[], transaction: string): void {
    this.cache.apply(differences)
    this.#lastTransaction = transaction
    if (differences.length > 0) this.#onDifferences(differences)
  }

  #requests(offered: DatabaseSchema): { readonly requests: object; readonly missing: readonly string[] } {
    const requests: Record<string, unknown> = {}
    const missing: string[] = []
    for (const { name, columns } of this.cache.layouts) {
      const table = offered.tables[name]
      if (table === undefined) {
        missing.push(name)
        continue
      }
      const names = [...columns.keys()]
      missing.push(
        ...names.filter((column) => !(column in table.columns)).map((column) => `${name}.${column}`),
      )
      requests[name] = [{ columns: names.filter((column) => column in table.columns) }]
    }
    return { requests, missing }
  }
}

function dumpParts(result: unknown): readonly [boolean, string, TableUpdates] {
  const parts: readonly unknown[] = Array.isArray(result) ? result : []
  const [found, transaction, updates] = parts
  if (typeof found === 'boolean' && typeof transaction === 'string' && typeof updates === 'object') {
    return [found, transaction, updates as TableUpdates]
  }
  throw new ProtocolError('answer to monitor_cond_since is not understood', result)
}
