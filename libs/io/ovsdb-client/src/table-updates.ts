import { ProtocolError } from './errors.ts'
import { decodeRow, modifyRow, type Row, shareUnchanged, type TableLayout, type WireRow } from './layout.ts'
import type { RowDifference } from './row-cache.ts'
import type { Uuid } from './types.ts'

/** The <table-updates2> of ovsdb-server(7), section 4.1.14: table → row id → what happened to it. */
export type TableUpdates = Readonly<Record<string, Readonly<Record<Uuid, RowUpdate>>>>

/** Exactly one of these is present. */
interface RowUpdate {
  readonly initial?: WireRow
  readonly insert?: WireRow
  readonly modify?: WireRow
  readonly delete?: null
}

/** The rows before an update. */
interface KnownRows {
  readonly layouts: readonly TableLayout[]
  layout(table: string): TableLayout | undefined
  row(table: string, uuid: Uuid): Row | undefined
  rows(table: string): ReadonlyMap<Uuid, Row>
}

/** Computes what an update changes. Throws {@link ProtocolError} when it does not fit the rows known. */
export function planUpdate(known: KnownRows, updates: TableUpdates): readonly RowDifference[] {
  return Object.entries(updates).flatMap(([table, rows]) => {
    const layout = known.layout(table)
    if (layout === undefined)
      throw new ProtocolError(`update of table ${table}, which is not monitored`, rows)
    return Object.entries(rows).flatMap(([uuid, update]) => {
      const old = known.row(table, uuid)
      return difference(table, uuid, old, updatedRow(layout, uuid, old, update))
    })
  })
}

/** Computes what a complete dump changes: rows that it does not mention are gone. */
export function planDump(known: KnownRows, dump: TableUpdates): readonly RowDifference[] {
  const gone = known.layouts.flatMap(({ name }) =>
    [...known.rows(name).values()]
      .filter(({ _uuid }) => dump[name]?.[_uuid] === undefined)
      .flatMap((old) => difference(name, old._uuid, old, undefined)),
  )
  return [...gone, ...planUpdate(known, dump)]
}

function updatedRow(
  layout: TableLayout,
  uuid: Uuid,
  old: Row | undefined,
  update: RowUpdate,
): Row | undefined {
  if (update.delete !== undefined) return undefined
  if (update.modify !== undefined) {
    if (old === undefined) throw new ProtocolError('modification of an unknown row', { [uuid]: update })
    return shareUnchanged(layout, old, modifyRow(layout, old, update.modify))
  }
  const complete = update.insert ?? update.initial
  if (complete === undefined) throw new ProtocolError('row update of no known kind', update)
  const fresh = decodeRow(layout, uuid, complete)
  return old === undefined ? fresh : shareUnchanged(layout, old, fresh)
}

function difference(
  table: string,
  uuid: Uuid,
  old: Row | undefined,
  fresh: Row | undefined,
): readonly RowDifference[] {
  return old === fresh ? [] : [{ table, uuid, old, new: fresh }]
}
