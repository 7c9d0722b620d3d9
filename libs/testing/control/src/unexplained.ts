import {
  externalId,
  objectTables,
  unexplainedRows,
  type NorthboundTable,
  type SampledRow,
} from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { northboundTables } from '@kube-ovn/assembly-controller'
import type { Uuid } from 'ovsdb-client'

/** Whose rows are, as far as their marks do not tell it. */
export interface RowOrigins {
  /** Those that a controller has inserted. */
  readonly inserted: ReadonlySet<Uuid>
  /** Those that a test has declared to be of others, though they carry a mark of ours: table and name, or identifier. */
  readonly declared: ReadonlySet<string>
}

/** The rows of a database, by table. */
interface Rows {
  scan<N extends NorthboundTable>(table: N): Iterable<OvnNorthbound[N]>
}

const marks = [externalId.vendor, externalId.owner, externalId.id]

/**
 * Rows of the Northbound of which `kubectl ko explain` could not say which object they are of.
 *
 * A row that carries no mark of ours is of others, unless a controller made it: a row that it forgets to mark is not.
 */
export function unexplained(northbound: Rows, { inserted, declared }: RowOrigins): readonly string[] {
  const cached = northboundTables()
  const rows = objectTables
    .filter((table) => table in cached)
    .flatMap((table) => [...northbound.scan(table)].map((row) => markedRow(table, row)))
  return unexplainedRows(rows).flatMap(({ row, text }) => {
    const isForeign = !inserted.has(row.row) && !marks.some((mark) => row.externalIds.has(mark))
    const isDeclared = [row.name, row.row].some((name) => declared.has(rowName(row.table, name)))
    return isForeign || isDeclared ? [] : [text]
  })
}

/** How a test calls a row that it declares. */
export function rowName(table: string, name: string): string {
  return `${table} ${name}`
}

function markedRow<N extends NorthboundTable>(table: N, row: OvnNorthbound[N]): SampledRow {
  return {
    ...{ table, row: row._uuid },
    name: 'name' in row && typeof row.name === 'string' ? row.name : '',
    externalIds: new Map('external_ids' in row ? Object.entries(row.external_ids) : []),
    sample: 'sample_new' in row && row.sample_new !== undefined ? row.sample_new : '',
  }
}
