import type { RowBase, Uuid } from 'ovsdb-client'
import { idOf, ownerOf, parseIdMark } from './marks.ts'
import type { ResolveRequest } from './resolve.ts'

/** A row of ours in a shared column of which another row stands. */
export interface Container {
  readonly kind: string
  readonly table: string
  readonly column: string
  readonly row: RowBase
  readonly isWeak: boolean
}

type Lookup = Pick<ResolveRequest, 'rows' | 'catalog' | 'adoptable'>

/** Finds the rows of known kinds whose shared columns refer to a row. Rows of others are not looked at. */
export function sharedContainersOf(table: string, uuid: Uuid, lookup: Lookup): readonly Container[] {
  const { catalog, rows } = lookup
  const found: Container[] = []
  for (const shared of catalog.sharedByRefTable.get(table) ?? []) {
    const { kind, table: of, column } = shared
    for (const row of rows.find(of, column, uuid)) {
      // A row is of one kind, so none is found twice.
      if (kindOf(of, row, lookup) !== kind) continue
      const isWeak = catalog.tables.get(of)?.columns.get(column)?.isWeak === true
      found.push({ kind, table: of, column, row, isWeak })
    }
  }
  return found
}

/** The kind of a row that is ours, or that would be adopted; `undefined` for a row of somebody else. */
export function kindOf(
  table: string,
  row: RowBase,
  { adoptable }: Pick<Lookup, 'adoptable'>,
): string | undefined {
  const mark = ownerOf(row) === undefined ? adoptable.identify(table, row) : idOf(row)
  return mark === undefined ? undefined : parseIdMark(mark)?.kind
}
