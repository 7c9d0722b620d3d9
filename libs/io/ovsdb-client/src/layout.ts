import { type ColumnType, defaultValue, parseColumnType } from './column-type.ts'
import { decodeValue } from './decode.ts'
import { ProtocolError, SchemaMismatchError } from './errors.ts'
import type { DatabaseSchema, RowBase, TableSchema, TableSelection, Uuid, Value } from './types.ts'
import { applyDifference, sameValue } from './value.ts'

/** A row of which nothing is known but that it has values. */
export type Row = RowBase & { readonly [column: string]: Value }

/** A <row> of RFC 7047, section 5.1. */
export type WireRow = Readonly<Record<string, unknown>>

/** What is kept of a table: the columns of its rows in a fixed order, and the indexes over them. */
export interface TableLayout {
  readonly name: string
  readonly columns: ReadonlyMap<string, ColumnType>
  readonly indexes: readonly IndexLayout[]
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

/** Makes a row of what `initial` or `insert` of update2 holds; columns left out have their default. */
export function decodeRow(layout: TableLayout, uuid: Uuid, wire: WireRow): Row {
  const row: Record<string, Value> = {}
  for (const [column, type] of layout.columns) {
    const value = wire[column]
    row[column] = value === undefined ? defaultValue(type) : decodeValue(type, value)
  }
  return asRow(uuid, row)
}

/** Makes the row that a `modify` of update2 turns `old` into. Columns that stay the same are shared. */
export function modifyRow(layout: TableLayout, old: Row, difference: WireRow): Row {
  const row: Record<string, Value> = { ...old }
  for (const [column, value] of Object.entries(difference)) {
    const type = layout.columns.get(column)
    if (type === undefined)
      throw new ProtocolError(`update of column ${column}, which is not monitored`, difference)
    row[column] = applyDifference(type, old[column], decodeValue(type, value))
  }
  return asRow(old._uuid, row)
}

/** Gives `old` when `fresh` says the same, else `fresh` with the unchanged columns shared with `old`. */
export function shareUnchanged(layout: TableLayout, old: Row, fresh: Row): Row {
  const row: Record<string, Value> = { ...fresh }
  let isSame = true
  for (const column of layout.columns.keys()) {
    if (sameValue(old[column], fresh[column])) row[column] = old[column]
    else isSame = false
  }
  return isSame ? old : asRow(old._uuid, row)
}

function asRow(uuid: Uuid, columns: Record<string, Value>): Row {
  return { _uuid: uuid, ...columns }
}
