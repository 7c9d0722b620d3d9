import { type ColumnType, defaultValue, parseColumnType } from './column-type.ts'
import { decodeValue } from './decode.ts'
import { ProtocolError, SchemaMismatchError } from './errors.ts'
import type { Atom, DatabaseSchema, RowBase, TableSchema, TableSelection, Uuid, Value } from './types.ts'
import { applyDifference, isSet, sameValue } from './value.ts'

/** A row of which nothing is known but that it has values. */
export type Row = RowBase & { readonly [column: string]: Value }

/** A <row> of RFC 7047, section 5.1. */
export type WireRow = Readonly<Record<string, unknown>>

/** What is kept of a table: the columns of its rows in a fixed order, and the indexes over them. */
export interface TableLayout {
  readonly name: string
  readonly columns: ReadonlyMap<string, ColumnType>
  readonly indexes: readonly IndexLayout[]
  /** What every row is copied from. */
  readonly blank: Row
}

export interface IndexLayout {
  /** As in {@link TableSelection}. */
  readonly name: string
  readonly column: string
  /** For a map column, the key whose value is indexed. */
  readonly key: string | undefined
}

/** Checks a selection against the schema. Throws {@link SchemaMismatchError}. */
export function layoutTable(schema: DatabaseSchema, name: string, selection: TableSelection): TableLayout {
  const table = tableSchema(schema, name)
  const names = selection.columns ?? Object.keys(table.columns)
  const columns = new Map(
    names.filter((column) => column !== '_uuid').map((column) => [column, columnType(name, table, column)]),
  )
  return {
    name,
    columns,
    indexes: (selection.indexes ?? []).map((index) => layoutIndex(name, columns, index)),
    blank: blankRow(columns),
  }
}

export function tableSchema(schema: DatabaseSchema, name: string): TableSchema {
  const table = Object.hasOwn(schema.tables, name) ? schema.tables[name] : undefined
  if (table === undefined)
    throw new SchemaMismatchError(name, undefined, undefined, `a table of ${schema.name}`)
  return table
}

export function columnType(table: string, schema: TableSchema, column: string): ColumnType {
  const found = Object.hasOwn(schema.columns, column) ? schema.columns[column] : undefined
  if (found === undefined) throw new SchemaMismatchError(table, column, undefined, `a column of ${table}`)
  return parseColumnType(found)
}

function layoutIndex(table: string, columns: ReadonlyMap<string, ColumnType>, name: string): IndexLayout {
  const colon = name.indexOf(':')
  const column = colon < 0 ? name : name.slice(0, colon)
  const key = colon < 0 ? undefined : name.slice(colon + 1)
  const type = columns.get(column)
  if (type === undefined)
    throw new SchemaMismatchError(table, column, name, 'an index over a selected column')
  if ((type.shape === 'map') !== (key !== undefined)) {
    const expected =
      type.shape === 'map' ? `${column}:KEY, because it is a map` : `${column}, because it is not a map`
    throw new SchemaMismatchError(table, column, name, expected)
  }
  return { name, column, key }
}

/**
 * Makes a row in which every column has its default.
 *
 * Copies of it have the same shape, so that V8 keeps what their columns are called only once, and they share what is
 * empty. It comes out of the parser because that makes objects of any size compact; column by column, one of more than
 * about twenty becomes a hash table.
 */
function blankRow(columns: ReadonlyMap<string, ColumnType>): Row {
  const names = Object.fromEntries(['_uuid', ...columns.keys()].map((column) => [column, '']))
  const row = JSON.parse(JSON.stringify(names)) as RowBase & Record<string, Value>
  for (const [column, type] of columns) row[column] = Object.freeze(defaultValue(type))
  return row
}

/**
 * Makes a row of what `initial` or `insert` of update2, or a `select`, holds.
 *
 * Columns left out have their default; others than the layout's are passed over.
 */
export function decodeRow(layout: TableLayout, uuid: Uuid, wire: WireRow): Row {
  const row: RowBase & Record<string, Value> = { ...layout.blank, _uuid: uuid }
  for (const column of Object.keys(wire)) {
    const type = layout.columns.get(column)
    if (type !== undefined) row[column] = decodeValue(type, wire[column])
  }
  return row
}

/** What a `modify` makes of a row. */
interface Modified {
  /** The old row itself when nothing has changed. Columns that stay the same are shared. */
  readonly row: Row
  /** Column that is a set → elements that joined or left. */
  readonly elements: ReadonlyMap<string, readonly Atom[]>
  /** Column that is a map → keys of the entries that differ. */
  readonly entries: ReadonlyMap<string, readonly string[]>
}

/** Applies a `modify` of update2 to a row. */
export function modifyRow(layout: TableLayout, old: Row, difference: WireRow): Modified {
  let row: (RowBase & Record<string, Value>) | undefined
  let elements: Map<string, readonly Atom[]> | undefined
  let entries: Map<string, readonly string[]> | undefined
  for (const column of Object.keys(difference)) {
    const type = layout.columns.get(column)
    if (type === undefined)
      throw new ProtocolError(`update of column ${column}, which is not monitored`, difference)
    const change = decodeValue(type, difference[column])
    const value = applyDifference(type, old[column], change)
    if (value === old[column]) continue
    row ??= { ...old }
    row[column] = value
    if (isSet(change)) (elements ??= new Map()).set(column, change)
    // Of a map that has one entry at all times the server sends the new one, and not what differs.
    else if (type.shape === 'map' && !type.isSingular)
      (entries ??= new Map()).set(column, Object.keys(change as object))
  }
  return { row: row ?? old, elements: elements ?? none, entries: entries ?? none }
}

/** Most rows that change do so in one column. */
const none: ReadonlyMap<string, never> = new Map<string, never>()

/** Gives `old` when `fresh` says the same, else `fresh` with the unchanged columns shared with `old`. */
export function shareUnchanged(layout: TableLayout, old: Row, fresh: Row): Row {
  const row: RowBase & Record<string, Value> = { ...fresh }
  let isSame = true
  for (const column of layout.columns.keys()) {
    if (sameValue(old[column], fresh[column])) row[column] = old[column]
    else isSame = false
  }
  return isSame ? old : row
}
