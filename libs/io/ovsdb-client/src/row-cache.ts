import { SchemaMismatchError } from './errors.ts'
import type { IndexLayout, Row, TableLayout } from './layout.ts'
import type { Atom, Cache, RowBase, Tables, Uuid, Value } from './types.ts'
import { compareSets, isSet } from './value.ts'

/** A row as it was and as it is. One of the two may be missing, not both. */
export interface RowDifference {
  readonly table: string
  readonly uuid: Uuid
  readonly old: Row | undefined
  readonly new: Row | undefined
}

/** The monitored rows by id and by index. */
export class RowCache<T extends Tables> implements Cache<T> {
  readonly #tables: ReadonlyMap<string, CachedTable>

  constructor(layouts: readonly TableLayout[]) {
    this.#tables = new Map(layouts.map((layout) => [layout.name, cachedTable(layout)]))
  }

  get<N extends keyof T & string>(table: N, uuid: Uuid): T[N] | undefined {
    return this.#table(table).rows.get(uuid) as T[N] | undefined
  }

  find<N extends keyof T & string>(table: N, index: string, key: Atom): readonly T[N][] {
    const { rows, indexes } = this.#table(table)
    const entries = indexes.get(index)?.entries
    if (entries === undefined)
      throw new SchemaMismatchError(table, undefined, index, 'an index that was declared')
    const found = entries.get(key)
    if (found === undefined) return []
    const uuids = typeof found === 'string' ? [found] : [...found]
    return uuids.map((uuid) => rows.get(uuid) as RowBase as T[N])
  }

  scan<N extends keyof T & string>(table: N): Iterable<T[N]> {
    return this.#table(table).rows.values() as Iterable<T[N]>
  }

  count(table: keyof T & string): number {
    return this.#table(table).rows.size
  }

  /** What is kept of a table; `undefined` when nothing is. */
  layout(table: string): TableLayout | undefined {
    return this.#tables.get(table)?.layout
  }

  get layouts(): readonly TableLayout[] {
    return [...this.#tables.values()].map(({ layout }) => layout)
  }

  row(table: string, uuid: Uuid): Row | undefined {
    return this.#table(table).rows.get(uuid)
  }

  rows(table: string): ReadonlyMap<Uuid, Row> {
    return this.#table(table).rows
  }

  apply(differences: readonly RowDifference[]): void {
    for (const { table, uuid, old, new: fresh } of differences) {
      const { rows, indexes } = this.#table(table)
      if (fresh === undefined) rows.delete(uuid)
      else rows.set(uuid, fresh)
      for (const index of indexes.values()) moveEntry(index, uuid, old, fresh)
    }
  }

  #table(name: string): CachedTable {
    const table = this.#tables.get(name)
    if (table === undefined)
      throw new SchemaMismatchError(name, undefined, undefined, 'a table that was selected')
    return table
  }
}

interface CachedTable {
  readonly layout: TableLayout
  readonly rows: Map<Uuid, Row>
  readonly indexes: ReadonlyMap<string, Index>
}

interface Index {
  readonly layout: IndexLayout
  /** Most keys have one row, so a set is made only for the second. */
  readonly entries: Map<Atom, Uuid | Set<Uuid>>
}

function cachedTable(layout: TableLayout): CachedTable {
  const indexes = layout.indexes.map((index): [string, Index] => [
    index.name,
    { layout: index, entries: new Map() },
  ])
  return { layout, rows: new Map(), indexes: new Map(indexes) }
}

function moveEntry(
  { layout, entries }: Index,
  uuid: Uuid,
  old: Row | undefined,
  fresh: Row | undefined,
): void {
  const { column } = layout
  if (old !== undefined && fresh !== undefined && old[column] === fresh[column]) return
  compareSets(
    indexedAtoms(layout, old?.[column]),
    indexedAtoms(layout, fresh?.[column]),
    (key) => removeEntry(entries, key, uuid),
    (key) => addEntry(entries, key, uuid),
  )
}

function indexedAtoms(layout: IndexLayout, value: Value): readonly Atom[] {
  if (value === undefined) return []
  if (typeof value !== 'object') return [value]
  if (isSet(value)) return value
  const atom = layout.key === undefined ? undefined : value[layout.key]
  return atom === undefined ? [] : [atom]
}

function addEntry(entries: Index['entries'], key: Atom, uuid: Uuid): void {
  const found = entries.get(key)
  if (found === undefined) entries.set(key, uuid)
  else if (typeof found === 'string') entries.set(key, new Set([found, uuid]))
  else found.add(uuid)
}

function removeEntry(entries: Index['entries'], key: Atom, uuid: Uuid): void {
  const found = entries.get(key)
  if (found === undefined || typeof found === 'string') {
    entries.delete(key)
    return
  }
  found.delete(uuid)
  const [last] = found
  if (found.size === 1 && last !== undefined) entries.set(key, last)
}
