import { ProtocolError } from './errors.ts'
import { decodeRow, modifyRow, type Row, shareUnchanged, type TableLayout, type WireRow } from './layout.ts'
import type { RowCache, RowDifference } from './row-cache.ts'
import type { Tables, Uuid } from './types.ts'

/** The <table-updates2> of ovsdb-server(7), section 4.1.14: table → row id → what happened to it. */
export type TableUpdates = Readonly<Record<string, Readonly<Record<Uuid, RowUpdate>>>>

/** Exactly one of these is present. */
interface RowUpdate {
  readonly initial?: WireRow
  readonly insert?: WireRow
  readonly modify?: WireRow
  readonly delete?: null
}

/**
 * What a message says about rows, gathered part by part while it arrives.
 *
 * The cache stays as it was until all is known. Between the first part and the last, nothing else may change it.
 */
export interface IncomingRows {
  /** Takes rows of a table, by id. Throws {@link ProtocolError} when they do not fit the rows known. */
  take(table: string, rows: Readonly<Record<Uuid, RowUpdate>>): void
  /** Changes the cache, and answers how. */
  apply(): readonly RowDifference[]
}

/** What an update changes. */
export class IncomingUpdate<T extends Tables> implements IncomingRows {
  readonly #cache: RowCache<T>
  readonly #differences: RowDifference[] = []

  constructor(cache: RowCache<T>) {
    this.#cache = cache
  }

  take(table: string, rows: Readonly<Record<Uuid, RowUpdate>>): void {
    const layout = layoutOf(this.#cache, table)
    for (const [uuid, update] of Object.entries(rows)) {
      const difference = updateRow(layout, uuid, this.#cache.row(table, uuid), update)
      if (difference.old !== difference.new) this.#differences.push(difference)
    }
  }

  apply(): readonly RowDifference[] {
    this.#cache.apply(this.#differences)
    return this.#differences
  }
}

/** What a complete dump changes: rows that it does not mention are gone. Its rows are indexed while they arrive. */
export class IncomingDump<T extends Tables> implements IncomingRows {
  readonly #cache: RowCache<T>
  readonly #next: RowCache<T>
  readonly #differences: RowDifference[] = []

  constructor(cache: RowCache<T>) {
    this.#cache = cache
    this.#next = cache.empty()
  }

  take(table: string, rows: Readonly<Record<Uuid, RowUpdate>>): void {
    const layout = layoutOf(this.#cache, table)
    for (const [uuid, update] of Object.entries(rows)) {
      const difference = updateRow(layout, uuid, this.#cache.row(table, uuid), update)
      this.#next.apply([{ table, uuid, old: this.#next.row(table, uuid), new: difference.new }])
      if (difference.old !== difference.new) this.#differences.push(difference)
    }
  }

  apply(): readonly RowDifference[] {
    const gone = this.#cache.layouts.flatMap(({ name }) => {
      const kept = this.#next.rows(name)
      return [...this.#cache.rows(name).values()]
        .filter(({ _uuid }) => !kept.has(_uuid))
        .map((old): RowDifference => ({ table: name, uuid: old._uuid, old, new: undefined }))
    })
    this.#cache.replace(this.#next)
    return [...gone, ...this.#differences]
  }
}

function layoutOf<T extends Tables>(cache: RowCache<T>, table: string): TableLayout {
  const layout = cache.layout(table)
  if (layout === undefined) throw new ProtocolError('update of a table that is not monitored', table)
  return layout
}

function updateRow(layout: TableLayout, uuid: Uuid, old: Row | undefined, update: RowUpdate): RowDifference {
  const table = layout.name
  if (update.delete !== undefined) return { table, uuid, old, new: undefined }
  if (update.modify !== undefined) {
    if (old === undefined) throw new ProtocolError('modification of an unknown row', { [uuid]: update })
    const { row, elements, entries } = modifyRow(layout, old, update.modify)
    return { table, uuid, old, new: row, elements, entries }
  }
  const complete = update.insert ?? update.initial
  if (complete === undefined) throw new ProtocolError('row update of no known kind', update)
  const fresh = decodeRow(layout, uuid, complete)
  return { table, uuid, old, new: old === undefined ? fresh : shareUnchanged(layout, old, fresh) }
}
