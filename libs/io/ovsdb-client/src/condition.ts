import { type ColumnType, uuidColumn } from './column-type.ts'
import { encodeValue, type Misfit } from './encode.ts'
import { SchemaMismatchError } from './errors.ts'
import { columnType, tableSchema } from './layout.ts'
import type { Comparison, Condition, DatabaseSchema, NewValue, OrderComparison } from './types.ts'

/** Finds the type of a column, `_uuid` included. Throws {@link SchemaMismatchError}. */
export function typeOfColumn(schema: DatabaseSchema, table: string, column: string): ColumnType {
  const found = tableSchema(schema, table)
  return column === '_uuid' ? uuidColumn : columnType(table, found, column)
}

/** Writes a <condition> of RFC 7047, section 5.1. Throws {@link SchemaMismatchError}. */
export function encodeCondition(
  schema: DatabaseSchema,
  table: string,
  [column, comparison, value]: Condition,
): readonly unknown[] {
  const type = typeOfColumn(schema, table, column)
  if (
    isOrder(comparison) &&
    !(type.shape === 'single' && (type.atom === 'integer' || type.atom === 'real'))
  ) {
    throw new SchemaMismatchError(
      table,
      column,
      comparison,
      'a column with one number, to be compared by size',
    )
  }
  return [column, comparison, fitting(table, column, value, encodeValue(type, value))]
}

/** The wire form of a value that fits its column. Throws {@link SchemaMismatchError} when it does not. */
export function fitting(
  table: string,
  column: string,
  value: NewValue,
  encoded: { readonly wire: unknown } | Misfit,
): unknown {
  if ('expected' in encoded) throw new SchemaMismatchError(table, column, value, encoded.expected)
  return encoded.wire
}

function isOrder(comparison: Comparison): comparison is OrderComparison {
  return comparison.startsWith('<') || comparison.startsWith('>')
}
