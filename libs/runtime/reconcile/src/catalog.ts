import type { RowKind } from '@kube-ovn/ovn-names'
import type { Atom, BaseTypeSchema, ColumnSchema, DatabaseSchema, TableSelection } from 'ovsdb-client'
import {
  KindClaimedTwiceError,
  UncomposableColumnError,
  UnknownTableError,
  UnmarkableTableError,
} from './errors.ts'
import type { Feature } from './feature.ts'
import { idIndex, markColumn, ownerIndex } from './marks.ts'

/** How a column's value looks: exactly one, at most one, a set, a map. */
type ColumnShape = 'one' | 'optional' | 'set' | 'map'

export interface Column {
  readonly shape: ColumnShape
  /** What an omitted value means. */
  readonly initial: Atom | undefined
  readonly refTable: string | undefined
  /** A weak reference is dropped by the server when its row goes, a strong one keeps its row. */
  readonly isWeak: boolean
  readonly minimum: number
}

export interface Table {
  readonly columns: ReadonlyMap<string, Column>
  /** A row of a table that is not root lives as long as a strong reference to it. */
  readonly isRoot: boolean
}

/** A set column of a kind's rows to which others contribute. */
interface SharedColumn {
  readonly kind: string
  readonly table: string
  readonly column: string
}

/** What there is to know about tables and kinds before any row is seen. */
export interface Catalog {
  readonly tables: ReadonlyMap<string, Table>
  readonly kinds: ReadonlyMap<string, RowKind>
  readonly kindsOfTable: ReadonlyMap<string, readonly RowKind[]>
  /** The feature that claims a kind. */
  readonly featureOfKind: ReadonlyMap<string, string>
  /** Tables in which a feature may own rows. */
  readonly tablesOfFeature: ReadonlyMap<string, ReadonlySet<string>>
  /** Shared columns by the table to which their elements refer (those of plain values: by ''). */
  readonly sharedByRefTable: ReadonlyMap<string, readonly SharedColumn[]>
}

/**
 * Puts together what the features declare.
 *
 * @throws {KindClaimedTwiceError} when two features claim one kind
 * @throws {UnknownTableError} when the schema lacks a kind's table or shared column
 * @throws {UnmarkableTableError} when a kind's table has no external_ids, and the kind does not say so
 * @throws {UncomposableColumnError} when a composed column is not a shared set or map of plain values
 */
export function catalogOf(
  schema: DatabaseSchema,
  features: readonly Pick<Feature, 'name' | 'kinds'>[],
): Catalog {
  const tables = tablesOf(schema)
  const kinds = new Map<string, RowKind>()
  const claimedBy = new Map<string, string>()
  const kindsOfTable = new Map<string, RowKind[]>()
  const tablesOfFeature = new Map<string, ReadonlySet<string>>()
  const sharedByRefTable = new Map<string, SharedColumn[]>()
  for (const feature of features) {
    tablesOfFeature.set(feature.name, new Set(feature.kinds.map((kind) => kind.table)))
    for (const kind of feature.kinds) {
      const other = claimedBy.get(kind.name)
      if (other !== undefined) throw new KindClaimedTwiceError(kind.name, [other, feature.name])
      claimedBy.set(kind.name, feature.name)
      kinds.set(kind.name, kind)
      kindsOfTable.getOrInsertComputed(kind.table, () => []).push(kind)
      const table = tables.get(kind.table)
      if (table === undefined) throw new UnknownTableError(kind.name, kind.table, undefined)
      if (kind.isUnmarked !== true && !isMarkable(table))
        throw new UnmarkableTableError(kind.name, kind.table)
      for (const column of kind.shared) {
        const shape = table.columns.get(column)
        if (shape === undefined) throw new UnknownTableError(kind.name, kind.table, column)
        if (shape.shape === 'map') continue
        const container = { kind: kind.name, table: kind.table, column }
        sharedByRefTable.getOrInsertComputed(shape.refTable ?? '', () => []).push(container)
      }
      for (const column of kind.composed ?? []) {
        const shape = table.columns.get(column)
        const isPlain = shape !== undefined && shape.refTable === undefined
        const hasMany = shape?.shape === 'set' || shape?.shape === 'map'
        if (!isPlain || !hasMany || !kind.shared.includes(column))
          throw new UncomposableColumnError(kind.name, kind.table, column)
      }
    }
  }
  return { tables, kinds, kindsOfTable, featureOfKind: claimedBy, tablesOfFeature, sharedByRefTable }
}

/**
 * What the cache must keep and index for the kernel, by table.
 *
 * All columns of the tables of known kinds, with indexes over the marks, over the shared columns and over the
 * references that lead from an identified row to its parent.
 */
export function selectionOf(catalog: Catalog): Readonly<Record<string, TableSelection>> {
  const indexes = new Map<string, Set<string>>()
  function index(table: string, name: string): void {
    const names = indexes.get(table) ?? new Set()
    indexes.set(table, names.add(name))
  }
  for (const kind of catalog.kinds.values()) {
    const table = catalog.tables.get(kind.table)
    if (table !== undefined && isMarkable(table))
      for (const mark of [ownerIndex, idIndex]) index(kind.table, mark)
    else indexes.set(kind.table, indexes.get(kind.table) ?? new Set())
    for (const column of kind.shared)
      if (catalog.tables.get(kind.table)?.columns.get(column)?.shape !== 'map') index(kind.table, column)
    if (kind.parent !== undefined) index(kind.parent[0], kind.parent[1])
  }
  return Object.fromEntries([...indexes].map(([table, names]) => [table, { indexes: [...names].sort() }]))
}

/** Whether the rows of a table can say whose they are. */
export function isMarkable({ columns }: Table): boolean {
  return columns.get(markColumn)?.shape === 'map'
}

function tablesOf(schema: DatabaseSchema): ReadonlyMap<string, Table> {
  // RFC 7047, section 3.2: when no table says isRoot, all are.
  const someRoot = Object.values(schema.tables).some((table) => table.isRoot === true)
  return new Map(
    Object.entries(schema.tables).map(([name, table]) => {
      const columns = new Map(
        Object.entries(table.columns).map(([column, type]) => [column, columnFrom(type)]),
      )
      return [name, { columns, isRoot: !someRoot || table.isRoot === true }]
    }),
  )
}

const initialAtoms: Readonly<Record<string, Atom>> = { integer: 0, real: 0, boolean: false, string: '' }

function columnFrom(schema: ColumnSchema): Column {
  const type = typeof schema.type === 'string' ? { key: schema.type } : schema.type
  const key: BaseTypeSchema = typeof type.key === 'string' ? { type: type.key } : type.key
  // No table has keys of maps that are references.
  const values = type.value === undefined ? key : type.value
  const referring: BaseTypeSchema = typeof values === 'string' ? { type: values } : values
  const minimum = type.min ?? 1
  const maximum = type.max ?? 1
  const shape = type.value !== undefined ? 'map' : maximum !== 1 ? 'set' : minimum === 0 ? 'optional' : 'one'
  return {
    shape,
    initial: shape === 'one' ? initialAtoms[key.type] : undefined,
    refTable: referring.refTable,
    isWeak: referring.refType === 'weak',
    minimum,
  }
}
