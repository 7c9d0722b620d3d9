import { MultiMap } from '@kube-ovn/collections'
import type { IndexFunction } from './table.ts'

/** The rows of a table, wherever they are kept. */
export interface Rows {
  get(key: string): unknown
  /** Keys under a value of an index, in no order. */
  keysOf(index: string, value: string): Iterable<string>
  keys(): Iterable<string>
}

export type UntypedIndexes = Readonly<Record<string, IndexFunction<unknown>>>

/** Index functions that have no values for a row on which they throw. */
export function guardedIndexes(indexes: UntypedIndexes): UntypedIndexes {
  return Object.fromEntries(
    Object.entries(indexes).map(([name, valuesOf]) => [name, (row: unknown) => valuesOrNone(valuesOf, row)]),
  )
}

function valuesOrNone(valuesOf: IndexFunction<unknown>, row: unknown): readonly string[] {
  try {
    return valuesOf(row)
  } catch {
    // Whoever takes in the row tells of it; it must be the same each time that it is asked.
    return []
  }
}

/** Rows in memory. */
export class StoredRows implements Rows {
  readonly #rows = new Map<string, unknown>()
  readonly #indexes: ReadonlyMap<
    string,
    { readonly valuesOf: IndexFunction<unknown>; readonly keys: MultiMap<string, string> }
  >

  constructor(indexes: UntypedIndexes) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, { valuesOf, keys: new MultiMap() }]),
    )
  }

  get(key: string): unknown {
    return this.#rows.get(key)
  }

  keysOf(index: string, value: string): Iterable<string> {
    return this.#indexes.get(index)?.keys.get(value) ?? []
  }

  keys(): Iterable<string> {
    return this.#rows.keys()
  }

  /** Puts a row in the place of another; `undefined` is none. */
  put(key: string, row: unknown): void {
    const old = this.#rows.get(key)
    if (row === undefined) this.#rows.delete(key)
    else this.#rows.set(key, row)
    for (const { valuesOf, keys } of this.#indexes.values()) {
      const had = old === undefined ? none : new Set(valuesOf(old))
      const has = row === undefined ? none : new Set(valuesOf(row))
      for (const value of had) if (!has.has(value)) keys.delete(value, key)
      for (const value of has) if (!had.has(value)) keys.add(value, key)
    }
  }
}

const none: ReadonlySet<string> = new Set()

/** Rows that differ from those of a base in what was put; the base must not change meanwhile. */
export class ForkedRows implements Rows {
  readonly #base: Rows
  readonly #own: StoredRows
  readonly #put = new Set<string>()

  constructor(base: Rows, indexes: UntypedIndexes) {
    this.#base = base
    this.#own = new StoredRows(indexes)
  }

  get(key: string): unknown {
    return (this.#put.has(key) ? this.#own : this.#base).get(key)
  }

  *keysOf(index: string, value: string): Iterable<string> {
    for (const key of this.#base.keysOf(index, value)) if (!this.#put.has(key)) yield key
    yield* this.#own.keysOf(index, value)
  }

  *keys(): Iterable<string> {
    for (const key of this.#base.keys()) if (!this.#put.has(key)) yield key
    yield* this.#own.keys()
  }

  put(key: string, row: unknown): void {
    this.#put.add(key)
    this.#own.put(key, row)
  }
}
