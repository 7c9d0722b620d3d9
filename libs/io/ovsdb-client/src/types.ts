/** A row id in the textual form of RFC 4122. */
export type Uuid = string

/** A value of one of the five atomic types of RFC 7047, section 5.1. Only integers beyond ±2^53 are bigints. */
export type Atom = string | number | bigint | boolean

/** Stands for the id of a row that the same transaction inserts (RFC 7047, named-uuid). */
export interface NamedUuid {
  readonly named: string
}

/**
 * A column's value as this client shows it.
 *
 * A column with at most one value is the value itself or `undefined`; a set is an array sorted in ascending
 * order, so that equal sets are equal arrays; a map is a plain object.
 */
export type Value = Atom | undefined | readonly Atom[] | Readonly<Record<string, Atom>>

/** A value to be written: like {@link Value}, where a reference may name a row of the same transaction. */
export type NewValue =
  Atom | NamedUuid | undefined | readonly (Atom | NamedUuid)[] | Readonly<Record<string, Atom | NamedUuid>>

/** Every row carries its id. */
export interface RowBase {
  readonly _uuid: Uuid
}

/** Row types by table name, e.g. the generated `OvnNorthbound`. */
export type Tables = { readonly [table: string]: RowBase }

/** A <database-schema> as it stands in an .ovsschema file (RFC 7047, section 3.2). */
export interface DatabaseSchema {
  readonly name: string
  readonly version: string
  readonly tables: Readonly<Record<string, TableSchema>>
}

export interface TableSchema {
  readonly columns: Readonly<Record<string, ColumnSchema>>
  readonly isRoot?: boolean
  readonly indexes?: readonly (readonly string[])[]
  readonly maxRows?: number
}

export interface ColumnSchema {
  readonly type: string | ColumnTypeSchema
  readonly ephemeral?: boolean
  readonly mutable?: boolean
}

export interface ColumnTypeSchema {
  readonly key: string | BaseTypeSchema
  readonly value?: string | BaseTypeSchema
  readonly min?: number
  readonly max?: number | 'unlimited'
}

export interface BaseTypeSchema {
  readonly type: string
  readonly refTable?: string
  readonly refType?: 'strong' | 'weak'
  readonly enum?: unknown
  readonly minInteger?: number
  readonly maxInteger?: number
  readonly maxLength?: number
}

/**
 * What to keep of a table.
 *
 * An index is named by what it covers: `name` (a column with one value), `ports` (each element of a set), or
 * `external_ids:owner` (one key of a map).
 */
export interface TableSelection {
  /** All columns when absent. */
  readonly columns?: readonly string[]
  readonly indexes?: readonly string[]
}

/** What to keep of a table, and which of its rows. */
export interface ConditionalSelection<R extends RowBase = RowBase> extends TableSelection {
  /**
   * Keeps the rows that meet any of the conditions: all rows when absent, none when empty.
   *
   * The server applies them, unless it is older than Open vSwitch 2.6 or lacks one of the columns: then all rows come.
   */
  readonly where?: readonly Condition<R>[]
}

/**
 * A <condition> of RFC 7047, section 5.1, e.g. `['name', '==', 'sw0']` or `['_uuid', '==', id]`.
 *
 * `includes` and `excludes` compare sets and maps: those of the row have all, or none, of the elements given.
 */
export type Condition<R extends RowBase = RowBase> = RowBase extends R
  ? readonly [column: string, comparison: Comparison, value: NewValue]
  : {
      readonly [C in keyof R & string]: readonly [
        column: C,
        comparison: NonNullable<R[C]> extends number ? Comparison : Exclude<Comparison, OrderComparison>,
        value: NewOf<R[C]>,
      ]
    }[keyof R & string]

/** For columns with at most one number only. */
export type OrderComparison = '<' | '<=' | '>' | '>='

export type Comparison = '==' | '!=' | OrderComparison | 'includes' | 'excludes'

/** What may be written where a row has a value of type `V`. */
type NewOf<V> = V extends readonly (infer E)[]
  ? NewAtom<E> | readonly NewAtom<E>[]
  : V extends object
    ? Readonly<Record<string, NewAtom<V[keyof V]>>>
    : NewAtom<V>

type NewAtom<V> = V extends string ? V | NamedUuid : V extends number ? V | bigint : V

/** One row that differs from before. A row that is new has no `old`, one that is gone has no `new`. */
export interface RowChange<T extends Tables = Tables, N extends keyof T & string = keyof T & string> {
  readonly table: N
  readonly uuid: Uuid
  readonly old: T[N] | undefined
  readonly new: T[N] | undefined
  /**
   * Column that is a set → elements that joined or left it, where the server told: then what a large set became is known without
   * comparing it. A changed column that is not mentioned must be compared.
   */
  readonly elements?: ReadonlyMap<string, readonly Atom[]>
  /** The same of columns that are maps: keys of the entries that are new, gone or different. */
  readonly entries?: ReadonlyMap<string, readonly string[]>
}

/** A change in any of the tables: naming the table tells the type of the row. */
export type AnyRowChange<T extends Tables> = {
  [N in keyof T & string]: RowChange<T, N>
}[keyof T & string]

/** Columns of a row to be written. Tables that are not known by name take any column. */
export type NewRow<R extends RowBase> = RowBase extends R
  ? Readonly<Record<string, NewValue>>
  : { readonly [C in Exclude<keyof R, '_uuid'>]?: NewValue }

/** A read-only view of the monitored rows. Rows are never changed in place: keep and compare them freely. */
export interface Cache<T extends Tables> {
  get<N extends keyof T & string>(table: N, uuid: Uuid): T[N] | undefined
  /** Rows whose indexed value equals `key`, in no particular order. The index must have been declared. */
  find<N extends keyof T & string>(table: N, index: string, key: Atom): readonly T[N][]
  /** Every row of a table. Named so that a full scan is visible in review. */
  scan<N extends keyof T & string>(table: N): Iterable<T[N]>
  count(table: keyof T & string): number
}

/** An operation of RFC 7047, section 5.2, ready to be sent. Made by the functions of `operations.ts`. */
export interface Operation {
  readonly op: string
  readonly table?: string
  readonly [field: string]: unknown
}

export interface OperationResult {
  readonly uuid?: Uuid
  readonly count?: number
  readonly rows?: readonly unknown[]
}

/** A <mutation> of RFC 7047, section 5.1. `delete` from a map takes entries, or keys as a list. */
export type Mutation<R extends RowBase = RowBase> = readonly [
  column: RowBase extends R ? string : keyof R & string,
  mutator: 'insert' | 'delete' | '+=' | '-=' | '*=' | '/=' | '%=',
  value: NewValue,
]
