import { databaseSize, runAt } from '@kube-ovn/lab'
import type { Place } from '@kube-ovn/lab'

const databaseFile = '/etc/ovn/ovnnb_db.db'

/** Columns that ovn-northd writes back into the Northbound; a transaction of nothing else is northd's. */
const northdColumns: Readonly<Record<string, readonly string[]>> = {
  Logical_Switch_Port: ['up', 'dynamic_addresses'],
  Logical_Router_Port: ['status'],
  NB_Global: [
    'nb_cfg',
    'nb_cfg_timestamp',
    'sb_cfg',
    'sb_cfg_timestamp',
    'hv_cfg',
    'hv_cfg_timestamp',
    'options',
    'external_ids',
  ],
}

type Tables = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>> | null>>>>

/** The present end of the database's log. */
export function logPosition(central: Place): Promise<number> {
  return databaseSize(central)
}

/**
 * Counts the transactions that clients other than northd committed since a position, from the server's own log (ovsdb(5)).
 *
 * Each record is a line with a header and a line of JSON: table, row, columns written.
 */
export async function countTransactions(central: Place, since: number): Promise<number> {
  const log = await runAt(central, ['tail', '-c', `+${since + 1}`, databaseFile])
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .filter((line) => !isNorthds(JSON.parse(line) as Tables)).length
}

function isNorthds(record: Tables): boolean {
  return Object.entries(record).every(
    ([table, rows]) =>
      table.startsWith('_') ||
      Object.values(rows).every(
        (row) => row !== null && Object.keys(row).every((column) => isNorthdColumn(table, column)),
      ),
  )
}

function isNorthdColumn(table: string, column: string): boolean {
  return northdColumns[table]?.includes(column) ?? false
}
