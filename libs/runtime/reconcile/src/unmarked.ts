import type { RowKind } from '@kube-ovn/ovn-names'
import type { RowBase } from 'ovsdb-client'
import { isMarkable, type Catalog } from './catalog.ts'
import { idIndex, ownerIndex } from './marks.ts'
import type { Rows } from './rows.ts'

/** Rows in which those of tables that can not be marked are found by no mark. */
export function findableRows(rows: Rows, { tables }: Catalog): Rows {
  const unmarkable = new Set([...tables].flatMap(([name, table]) => (isMarkable(table) ? [] : [name])))
  return {
    get: (table, uuid) => rows.get(table, uuid),
    scan: (table) => rows.scan(table),
    find(table, index, key) {
      const isMark = index === ownerIndex || index === idIndex
      return isMark && unmarkable.has(table) ? none : rows.find(table, index, key)
    },
  }
}

/** Whether a kind of this name has rows that carry no marks. */
export function isUnmarked(kind: string | undefined, { kinds }: Catalog): boolean {
  return kind !== undefined && kinds.get(kind)?.isUnmarked === true
}

/** Whether a key of these kinds may have rows that carry no mark of it. */
export function haveUnmarked(kinds: readonly RowKind[]): boolean {
  return kinds.some((kind) => kind.isUnmarked === true)
}

const none: readonly never[] = []

/**
 * The row that a column refers to, if a kind is of its table. Others put into our rows what no kind here is of, such as the NAT of a router:
 * the cache need not have such a table, and no row in it is ours.
 */
export function referredRow(
  rows: Rows,
  { kindsOfTable }: Pick<Catalog, 'kindsOfTable'>,
  table: string,
  uuid: string,
): RowBase | undefined {
  return kindsOfTable.has(table) ? rows.get(table, uuid) : undefined
}
