import type { RowRef } from '@kube-ovn/ovn-names'
import type { Atom, NewValue, RowBase } from 'ovsdb-client'
import type { Column, Table } from './catalog.ts'
import type { ColumnValue } from './feature.ts'
import type { Edits } from './edits.ts'
import { markColumn, marksOf } from './marks.ts'
import type { Target } from './resolve.ts'
import { elementsOf, mapOf } from './rows.ts'
import {
  asElements,
  asMap,
  isEqualValue,
  isInitial,
  isMapValue,
  mapDifference,
  resolveValue,
  setDifference,
  type Resolve,
} from './values.ts'

/** From here on a set, or a map of ours, is changed by its difference rather than sent whole. */
const largeColumn = 16

/** The columns of a row to be inserted; what has its default anyway is left out. */
export function newColumns(target: Target, table: Table, resolve: Resolve): Record<string, NewValue> {
  const columns: Record<string, NewValue> = {}
  for (const [name, value] of Object.entries({ ...target.row.onInsert, ...columnsOf(target) })) {
    const column = table.columns.get(name)
    if (column === undefined) continue
    const resolved = resolveValue(column, value, resolve)
    if (!isInitial(column, resolved)) columns[name] = resolved
  }
  return columns
}

interface RowDifference {
  /** Columns to be written whole. */
  readonly update: Readonly<Record<string, NewValue>>
  /** Names of all columns that differ, those that are edited in place included. */
  readonly columns: readonly string[]
}

/**
 * Compares an existing row with what is wanted. Columns that are not asked for are not looked at.
 *
 * Entries of maps that others may write to or that are large, and elements of large sets, are put into `edits` one by one.
 */
export function diffRow(
  target: Target,
  row: RowBase,
  table: Table,
  resolve: Resolve,
  edits: Edits,
): RowDifference {
  const update: Record<string, NewValue> = {}
  const differing: string[] = []
  const asked = columnsOf(target)
  for (const name in asked) {
    const value = asked[name]
    const column = table.columns.get(name)
    if (column === undefined) continue
    const wanted = resolveValue(column, value, resolve)
    if (column.shape === 'map' && target.row.kind.exactMaps?.includes(name) !== true) {
      const difference = mapDifference(mapOf(row, name), asAsked(value), asMap(wanted))
      if (difference.remove.length === 0 && Object.keys(difference.put).length === 0) continue
      edits.changeMap(target.row.kind.table, row._uuid, name, difference)
    } else {
      if (isEqualValue(row, name, column, wanted)) continue
      const isEdited =
        column.shape === 'map'
          ? editLargeMap(target, row, name, wanted, edits)
          : editLargeSet(target, row, name, column, wanted, edits)
      if (!isEdited) update[name] = wanted
    }
    differing.push(name)
  }
  return { update, columns: differing }
}

function editLargeSet(
  target: Target,
  row: RowBase,
  name: string,
  column: Column,
  wanted: NewValue,
  edits: Edits,
): boolean {
  const current = elementsOf(row, name)
  if (column.shape !== 'set' || current.length < largeColumn) return false
  const { missing, surplus } = setDifference(current, asElements(wanted))
  if (missing.length + surplus.length > current.length / 2) return false
  const { table } = target.row.kind
  for (const element of missing) edits.insert(table, row._uuid, name, element)
  for (const atom of surplus) edits.delete(table, row._uuid, name, atom)
  return true
}

/** A map whose every key is ours. */
function editLargeMap(target: Target, row: RowBase, name: string, wanted: NewValue, edits: Edits): boolean {
  const [current, entries] = [mapOf(row, name), asMap(wanted)]
  const size = Object.keys(current).length
  if (size < largeColumn) return false
  const difference = mapDifference(current, { ...current, ...entries }, entries)
  if (difference.remove.length + Object.keys(difference.put).length > size / 2) return false
  edits.changeMap(target.row.kind.table, row._uuid, name, difference)
  return true
}

/** The desired columns with our marks among the external_ids, if the table has any. */
function columnsOf(target: Target): Readonly<Record<string, ColumnValue>> {
  if (target.row.kind.isUnmarked === true) return target.row.columns
  const ids = { ...asAsked(target.row.columns[markColumn]), ...marksOf(target.owner, target.id) }
  return { ...target.row.columns, [markColumn]: ids }
}

function asAsked(value: ColumnValue): Readonly<Record<string, Atom | RowRef | undefined>> {
  return isMapValue(value) ? value : {}
}
