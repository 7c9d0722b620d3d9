import { hasElement, type Atom, type RowBase, type RowChange, type Uuid, type Value } from 'ovsdb-client'

/**
 * The rows of a database as the kernel sees them: tables and columns by name, whatever the schema.
 *
 * A `Cache` of ovsdb-client is one.
 */
export interface Rows {
  get(table: string, uuid: Uuid): RowBase | undefined
  find(table: string, index: string, key: Atom): readonly RowBase[]
  scan(table: string): Iterable<RowBase>
}

type Columns = RowBase & Readonly<Record<string, Value>>

export function columnOf(row: RowBase, column: string): Value {
  return (row as Columns)[column]
}

const emptyMap: Readonly<Record<string, Atom>> = Object.freeze({})

export function mapOf(row: RowBase, column: string): Readonly<Record<string, Atom>> {
  const value = columnOf(row, column)
  return isMap(value) ? value : emptyMap
}

/** A column's elements: of a set all, of an optional or single value none or one. */
export function elementsOf(row: RowBase, column: string): readonly Atom[] {
  const value = columnOf(row, column)
  if (value === undefined || isMap(value)) return []
  return isArray(value) ? value : [value]
}

/** Whether an element is in a column, which may be a large set. */
export function isIn(element: Atom, row: RowBase, column: string): boolean {
  return hasElement(elementsOf(row, column), element)
}

/** Elements of a column that only one of the two states of a row has. */
export function changedElements({ old, new: fresh, elements }: RowChange, column: string): readonly Atom[] {
  const told = elements?.get(column)
  if (told !== undefined) return told
  const before = old === undefined ? [] : elementsOf(old, column)
  const after = fresh === undefined ? [] : elementsOf(fresh, column)
  if (before === after) return []
  const had = new Set(before)
  const has = new Set(after)
  return [...before.filter((atom) => !has.has(atom)), ...after.filter((atom) => !had.has(atom))]
}

/** Keys of the entries of a map that the two states of a row do not have alike. */
export function changedEntries({ old, new: fresh, entries }: RowChange, column: string): readonly string[] {
  const told = entries?.get(column)
  if (told !== undefined) return told
  const before = old === undefined ? emptyMap : mapOf(old, column)
  const after = fresh === undefined ? emptyMap : mapOf(fresh, column)
  if (before === after) return []
  return [
    ...Object.keys(before).filter((key) => before[key] !== after[key]),
    ...Object.keys(after).filter((key) => !(key in before)),
  ]
}

/** Like `Array.isArray`, which does not recognise read-only arrays. */
export function isArray<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value)
}

function isMap(value: Value): value is Readonly<Record<string, Atom>> {
  return typeof value === 'object' && !Array.isArray(value)
}
