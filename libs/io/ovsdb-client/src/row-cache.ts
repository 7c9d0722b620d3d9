import { SchemaMismatchError } from './errors.ts'
import type { IndexLayout, Row, TableLayout } from './layout.ts'
import type { Atom, Cache, RowBase, RowChange, Tables, Uuid, Value } from './types.ts'
import { compareSets, isSet } from './value.ts'

/** A row as it was and as it is. One of the two may be missing, not both. */
export interface RowDifference {
  readonly table: string
  readonly uuid: Uuid
  readonly old: Row | undefined
  readonly new: Row | undefined
  /** As in {@link RowChange}. */
  readonly elements?: NonNullable<RowChange['elements']>
  readonly entries?: NonNullable<RowChange['entries']>
}

/** The monitored rows by id and by index. */
export class RowCache<T extends Tables> implements Cache<T> {
  #tables: ReadonlyMap<string, CachedTable>

  constructor(layouts: readonly TableLayout[]) {
    this.#tables = tablesFor(layouts)
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
    for (const difference of differences) put(this.#table(difference.table), difference)
  }

  /** A cache of the same tables without rows, to be filled and then to {@link replace} this one. */
  empty(): RowCache<T> {
    return new RowCache(this.layouts)
  }

  /** Takes the rows of another cache, which must not be used any more. */
  replace(other: RowCache<T>): void {
    this.#tables = other.#tables
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

function tablesFor(layouts: readonly TableLayout[]): ReadonlyMap<string, CachedTable> {
  return new Map(
    layouts.map((layout) => {
      const indexes = layout.indexes.map((index): [string, Index] => [
        index.name,
        { layout: index, entries: new Map() },
      ])
      return [layout.name, { layout, rows: new Map(), indexes: new Map(indexes) }]
    }),
  )
}

function put({ rows, indexes }: CachedTable, { uuid, old, new: fresh, elements }: RowDifference): void {
  if (fresh === undefined) rows.delete(uuid)
  else rows.set(uuid, fresh)
  for (const { layout, entries } of indexes.values()) {
    const { column } = layout
    if (old !== undefined && fresh !== undefined && old[column] === fresh[column]) continue
    const moved = elements?.get(column)
    if (moved === undefined) moveEntry(layout, entries, uuid, [old?.[column], fresh?.[column]])
    else for (const key of moved) toggleEntry(entries, key, uuid)
  }
}

function moveEntry(
  layout: IndexLayout,
  entries: Index['entries'],
  uuid: Uuid,
  [old, fresh]: readonly [Value, Value],
): void {
  compareSets(
    indexedAtoms(layout, old),
    indexedAtoms(layout, fresh),
    (key) => removeEntry(entries, key, uuid),
    (key) => addEntry(entries, key, uuid),
  )
}

/** Removes what is there and adds what is not. */
function toggleEntry(entries: Index['entries'], key: Atom, uuid: Uuid): void {
  const found = entries.get(key)
  const isThere = typeof found === 'object' ? found.has(uuid) : found === uuid
  if (isThere) removeEntry(entries, key, uuid)
  else addEntry(entries, key, uuid)
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
  if (found.size > 1) return
  for (const last of found) entries.set(key, last)
}
