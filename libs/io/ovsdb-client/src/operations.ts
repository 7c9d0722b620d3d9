import { uuidColumn } from './column-type.ts'
import { encodeCondition, fitting, typeOfColumn } from './condition.ts'
import { encodeKeys, encodeValue, isIdentifier, isText } from './encode.ts'
import { InvalidIdentifierError } from './errors.ts'
import { decodeRow, layoutTable, tableSchema, type WireRow } from './layout.ts'
import type {
  Condition,
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

/** The rows that an operation is about: one by its id, or all that meet every condition (every row, without any). */
export type Where<R extends RowBase = RowBase> = Uuid | NamedUuid | readonly Condition<R>[]

/** How other operations and others call a new row. */
export interface NewRowId {
  /** Lets other operations of the transaction refer to the row by `named(name)`. */
  readonly name?: string
  /** The row's id, for a client that wants to know it beforehand (Open vSwitch 2.13 or newer). Else the server makes one. */
  readonly uuid?: Uuid
}

/** Builds the operations of RFC 7047, section 5.2, for one database. Nothing is sent. */
export interface Operations<T extends Tables = Tables> {
  /** A string for `id` is the row's name. */
  insert<N extends keyof T & string>(table: N, row: NewRow<T[N]>, id?: string | NewRowId): Operation
  update<N extends keyof T & string>(table: N, where: Where<T[N]>, row: NewRow<T[N]>): Operation
  mutate<N extends keyof T & string>(
    table: N,
    where: Where<T[N]>,
    mutations: readonly Mutation<T[N]>[],
  ): Operation
  /** The `delete` of the RFC. */
  remove<N extends keyof T & string>(table: N, where: Where<T[N]>): Operation
  /** Removes every row of a table. */
  removeAll(table: keyof T & string): Operation
  select<N extends keyof T & string>(
    table: N,
    where?: Where<T[N]>,
    columns?: readonly (RowBase extends T[N] ? string : keyof T[N] & string)[],
  ): Operation
  /**
   * Lets the transaction go on only when the rows found have (`==`) or have not (`!=`) exactly these values.
   *
   * A list of rows is compared as a set: `[]` waits for there being none. The transaction is tried again whenever the database
   * changes, for `timeoutMs` (`Infinity`: for ever, until it is canceled), and then fails. By default it fails at once.
   */
  wait<N extends keyof T & string>(
    table: N,
    where: Where<T[N]>,
    until: '==' | '!=',
    rows: NewRow<T[N]> | readonly NewRow<T[N]>[],
    timeoutMs?: number,
  ): Operation
  /** Lets the transaction fail unless this client has the lock. */
  assertLock(name: string): Operation
  /** Written into the server's log with the transaction. */
  comment(text: string): Operation
  /** Asks for the transaction to be on disk when it is answered, if `isDurable`. */
  commit(isDurable: boolean): Operation
  /** Lets the transaction fail. For trying out whether the others would succeed, up to the checks at commit. */
  abort(): Operation
  /** Reads the rows that a `select` has answered. Columns that were not asked for, `_uuid` too, have their default. */
  selected<N extends keyof T & string>(table: N, result: OperationResult): readonly T[N][]
}

/** Refers to the row that `insert(…, name)` of the same transaction makes. */
export function named(name: string): NamedUuid {
  return { named: name }
}

/** Binds the builders to a schema. They throw {@link SchemaMismatchError} on what the schema does not allow. */
export function operationsFor<T extends Tables = Tables>(schema: DatabaseSchema): Operations<T> {
  function wireRow(table: string, row: Readonly<Record<string, NewValue>>): WireRow {
    tableSchema(schema, table)
    return Object.fromEntries(
      Object.entries(row).map(([column, value]) => {
        const type = typeOfColumn(schema, table, column)
        return [column, fitting(table, column, value, encodeValue(type, value))]
      }),
    )
  }

  function wireMutation(table: string, [column, mutator, value]: Mutation): unknown {
    const type = typeOfColumn(schema, table, column)
    if (type.shape === 'map' && mutator === 'delete' && isKeys(value)) {
      return [column, mutator, fitting(table, column, value, encodeKeys(type.key, value))]
    }
    // Insertion into and deletion from a column that takes at most one value are allowed, too.
    return [column, mutator, fitting(table, column, value, encodeValue(type, value))]
  }

  function at(table: string, where: Where): { table: string; where: readonly unknown[] } {
    tableSchema(schema, table)
    const conditions: readonly Condition[] = isConditions(where) ? where : [['_uuid', '==', where]]
    return { table, where: conditions.map((condition) => encodeCondition(schema, table, condition)) }
  }

  return {
    insert(table, row, id = {}) {
      const { name, uuid } = typeof id === 'string' ? { name: id } : id
      return {
        ...{ op: 'insert', table, row: wireRow(table, row) },
        ...(name === undefined ? {} : { 'uuid-name': identifier(name) }),
        ...(uuid === undefined ? {} : { uuid: rowId(table, uuid) }),
      }
    },
    update: (table, where, row) => ({ op: 'update', ...at(table, where as Where), row: wireRow(table, row) }),
    mutate: (table, where, mutations) => ({
      op: 'mutate',
      ...at(table, where as Where),
      mutations: mutations.map((mutation) => wireMutation(table, mutation)),
    }),
    remove: (table, where) => ({ op: 'delete', ...at(table, where as Where) }),
    removeAll: (table) => ({ op: 'delete', ...at(table, []) }),
    select(table, where = [], columns) {
      const operation = { op: 'select', ...at(table, where as Where) }
      if (columns === undefined) return operation
      for (const column of columns) typeOfColumn(schema, table, column)
      return { ...operation, columns }
    },
    wait(table, where, until, rows, timeoutMs = 0) {
      const list: readonly Readonly<Record<string, NewValue>>[] = Array.isArray(rows) ? rows : [rows]
      return {
        ...{ op: 'wait', ...at(table, where as Where) },
        columns: list.length === 0 ? ['_uuid'] : [...new Set(list.flatMap((row) => Object.keys(row)))],
        until,
        rows: list.map((row) => wireRow(table, row)),
        ...(timeoutMs === Infinity ? {} : { timeout: Math.ceil(timeoutMs) }),
      }
    },
    assertLock: (name) => ({ op: 'assert', lock: identifier(name) }),
    comment: (text) => ({
      op: 'comment',
      comment: isText(text) ? text : text.replaceAll('\0', '').toWellFormed(),
    }),
    commit: (isDurable) => ({ op: 'commit', durable: isDurable }),
    abort: () => ({ op: 'abort' }),
    selected<N extends keyof T & string>(table: N, result: OperationResult): readonly T[N][] {
      const layout = layoutTable(schema, table, {})
      const rows = (result.rows ?? []) as readonly WireRow[]
      return rows.map((wire) => decodeRow(layout, wireUuid(wire), wire) as RowBase as T[N])
    },
  }
}

function identifier(name: string): string {
  if (!isIdentifier(name)) throw new InvalidIdentifierError(name)
  return name
}

function rowId(table: string, uuid: Uuid): Uuid {
  fitting(table, '_uuid', uuid, encodeValue(uuidColumn, uuid))
  return uuid
}

function isConditions(where: Where): where is readonly Condition[] {
  return Array.isArray(where)
}

function isKeys(value: NewValue): value is readonly (string | number | boolean)[] {
  return Array.isArray(value)
}

function wireUuid(row: WireRow): Uuid {
  const wire = row['_uuid']
  return Array.isArray(wire) ? String(wire[1]) : ''
}
