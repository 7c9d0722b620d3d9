import { type ColumnType, uuidColumn } from './column-type.ts'
import { encodeKeys, encodeValue, type Misfit } from './encode.ts'
import { SchemaMismatchError } from './errors.ts'
import { columnType, decodeRow, layoutTable, tableSchema, type WireRow } from './layout.ts'
import type {
  DatabaseSchema,
  Mutation,
  NamedUuid,
  NewRow,
  NewValue,
  Operation,
  OperationResult,
  RowBase,
  Tables,
  Uuid,
} from './types.ts'

/** A <condition> of RFC 7047, section 5.1, e.g. `['name', '==', 'sw0']` or `['_uuid', '==', id]`. */
export type Condition = readonly [
  column: string,
  comparison: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'includes' | 'excludes',
  value: NewValue,
]

/** Builds the operations of RFC 7047, section 5.2, for one database. Nothing is sent. */
export interface Operations<T extends Tables = Tables> {
  /** `uuidName` lets other operations of the transaction refer to the new row by `named(uuidName)`. */
  insert<N extends keyof T & string>(table: N, row: NewRow<T[N]>, uuidName?: string): Operation
  update<N extends keyof T & string>(table: N, uuid: Uuid | NamedUuid, row: NewRow<T[N]>): Operation
  mutate(table: keyof T & string, uuid: Uuid | NamedUuid, mutations: readonly Mutation[]): Operation
  remove(table: keyof T & string, uuid: Uuid | NamedUuid): Operation
  /** Removes every row of a table. */
  removeAll(table: keyof T & string): Operation
  select(table: keyof T & string, where?: readonly Condition[], columns?: readonly string[]): Operation
  /**
   * Lets the transaction fail unless the row has (`==`) or has not (`!=`) these values.
   *
   * Without a time-out it does not wait for them to come about.
   */
  wait<N extends keyof T & string>(
    table: N,
    uuid: Uuid | NamedUuid,
    until: '==' | '!=',
    row: NewRow<T[N]>,
    timeoutMs?: number,
  ): Operation
  /** Lets the transaction fail unless this client has the lock. */
  assertLock(name: string): Operation
  /** Becomes part of the server's log of the transaction. */
  comment(text: string): Operation
  /** Reads the rows that a `select` of all columns has answered. */
  selected<N extends keyof T & string>(table: N, result: OperationResult): readonly T[N][]
}

/** Refers to the row that `insert(…, name)` of the same transaction makes. */
export function named(name: string): NamedUuid {
  return { named: name }
}

/** Binds the builders to a schema. They throw {@link SchemaMismatchError} on what the schema does not allow. */
export function operationsFor<T extends Tables = Tables>(schema: DatabaseSchema): Operations<T> {
  function typeOf(table: string, column: string): ColumnType {
    return column === '_uuid' ? uuidColumn : columnType(table, tableSchema(schema, table), column)
  }

  function wireRow(table: string, row: Readonly<Record<string, NewValue>>): WireRow {
    tableSchema(schema, table)
    return Object.fromEntries(
      Object.entries(row).map(([column, value]) => {
        const type = typeOf(table, column)
        return [column, fitting(table, column, value, encodeValue(type, value))]
      }),
    )
  }

  function wireCondition(table: string, [column, comparison, value]: Condition): unknown {
    return [column, comparison, fitting(table, column, value, encodeValue(typeOf(table, column), value))]
  }

  function wireMutation(table: string, [column, mutator, value]: Mutation): unknown {
    const type = typeOf(table, column)
    if (type.shape === 'map' && mutator === 'delete' && isKeys(value)) {
      return [column, mutator, fitting(table, column, value, encodeKeys(type.key, value))]
    }
    // Insertion into and deletion from a column that takes at most one value are allowed, too.
    return [column, mutator, fitting(table, column, value, encodeValue(type, value))]
  }

  function at(table: string, uuid: Uuid | NamedUuid): { table: string; where: readonly unknown[] } {
    tableSchema(schema, table)
    return { table, where: [wireCondition(table, ['_uuid', '==', uuid])] }
  }

  return {
    insert(table, row, uuidName) {
      const operation = { op: 'insert', table, row: wireRow(table, row) }
      return uuidName === undefined ? operation : { ...operation, 'uuid-name': uuidName }
    },
    update: (table, uuid, row) => ({ op: 'update', ...at(table, uuid), row: wireRow(table, row) }),
    mutate: (table, uuid, mutations) => ({
      op: 'mutate',
      ...at(table, uuid),
      mutations: mutations.map((mutation) => wireMutation(table, mutation)),
    }),
    remove: (table, uuid) => ({ op: 'delete', ...at(table, uuid) }),
    removeAll(table) {
      tableSchema(schema, table)
      return { op: 'delete', table, where: [] }
    },
    select(table, where = [], columns) {
      tableSchema(schema, table)
      const operation = {
        op: 'select',
        table,
        where: where.map((condition) => wireCondition(table, condition)),
      }
      return columns === undefined ? operation : { ...operation, columns }
    },
    wait: (table, uuid, until, row, timeoutMs = 0) => ({
      op: 'wait',
      ...at(table, uuid),
      columns: Object.keys(row),
      until,
      rows: [wireRow(table, row)],
      timeout: timeoutMs,
    }),
    assertLock: (name) => ({ op: 'assert', lock: name }),
    comment: (text) => ({ op: 'comment', comment: text }),
    selected<N extends keyof T & string>(table: N, result: OperationResult): readonly T[N][] {
      const layout = layoutTable(schema, table, {})
      const rows = (result.rows ?? []) as readonly WireRow[]
      return rows.map((wire) => decodeRow(layout, wireUuid(wire), wire) as RowBase as T[N])
    },
  }
}

function fitting(
  table: string,
  column: string,
  value: NewValue,
  encoded: { readonly wire: unknown } | Misfit,
): unknown {
  if ('expected' in encoded) throw new SchemaMismatchError(table, column, value, encoded.expected)
  return encoded.wire
}

function isKeys(value: NewValue): value is readonly (string | number | boolean)[] {
  return Array.isArray(value)
}

function wireUuid(row: WireRow): Uuid {
  const wire = row['_uuid']
  return Array.isArray(wire) ? String(wire[1]) : ''
}
