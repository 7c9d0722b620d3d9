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
  const found = new Map<string, Container>()
  for (const shared of catalog.sharedByRefTable.get(table) ?? []) {
    for (const row of rows.find(shared.table, shared.column, uuid)) {
      if (kindOf(shared.table, row, lookup) !== shared.kind) continue
      const isWeak = catalog.tables.get(shared.table)?.columns.get(shared.column)?.isWeak === true
      found.set(`${row._uuid} ${shared.column}`, { ...shared, row, isWeak })
    }
  }
  return [...found.values()]
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
