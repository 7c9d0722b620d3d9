import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'

export type NorthboundTable = keyof OvnNorthbound

type WithExternalIds = { readonly external_ids: Readonly<Record<string, string>> }

/** Tables whose rows can carry marks of ownership. */
export type MarkedTable = {
  [N in NorthboundTable]: OvnNorthbound[N] extends WithExternalIds ? N : never
}[NorthboundTable]

/** The row that holds a reference to another one, as far as an identity depends on it. */
export interface ParentRow {
  readonly table: string
  readonly name: string
  /** `<kind>/<natural key>`, if it is a row of ours. */
  readonly id?: string
}

/**
 * Declares one kind of row that somebody creates.
 *
 * `shared` lists the sets and maps to which keys contribute single values and entries (ports of a switch, members of a
 * group). They are never written as a whole. `exactMaps` lists the map columns whose every key is ours; in any
 * other map column only the keys that are asked for are compared, and a key asked for as `undefined` is removed.
 * `composed` lists those of the shared columns that are sets or maps of plain values and hold what is contributed and nothing
 * else (addresses of an address set): anything else in them is taken out, whoever put it there.
 */
export interface RowKind<N extends NorthboundTable = NorthboundTable> {
  /** Short and unique: it becomes part of `external_ids:id`. */
  readonly name: string
  readonly table: N
  readonly shared: readonly string[]
  readonly exactMaps?: readonly string[]
  readonly composed?: readonly string[]
  /**
   * Of a table that has no `external_ids`: Load_Balancer_Group, Static_MAC_Binding, Sample. What `identify` knows, by its name or by the
   * row of ours that refers to it, is ours, and is deleted when no key wants it. It must know no row that could be somebody else's.
   */
  readonly isUnmarked?: true
  /**
   * Columns of the table's rows that must be known to identify a row written by upstream, see `identify`.
   * `(parent table, column)` pairs: the reverse reference to follow, e.g. `['Logical_Router', 'policies']`.
   */
  readonly parent?: readonly [table: NorthboundTable, column: string]
  /**
   * Gives the natural key of a row that carries no `owner` of ours, or `undefined` when it is not of this kind.
   * A row thus recognised is adopted: kept, and marked.
   */
  identify(row: OvnNorthbound[N], parent: ParentRow | undefined): string | undefined
  /**
   * Gives the natural key that a row would have if it were of this kind, though by all that it shows it is of another.
   * It is adopted as this one by a key that wants it, unless another key wants it as what it seems to be.
   */
  resembles?(row: OvnNorthbound[N]): string | undefined
}

/** Names a row by kind and natural key, whether it exists yet or not. */
export interface RowRef {
  readonly kind: string
  readonly id: string
}
