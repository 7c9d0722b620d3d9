import { runAt, type Place } from '../namespaces.ts'

/** The files to which the servers append every transaction (ovsdb(5)). */
const databaseFiles = { northbound: '/etc/ovn/ovnnb_db.db', southbound: '/etc/ovn/ovnsb_db.db' } as const

export type OvnDatabase = keyof typeof databaseFiles

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

/**
 * The present end of a database's log: it only grows by transactions that change something, and shrinks by compaction, which takes far
 * more of them than a suite makes.
 */
export async function logPosition(central: Place, database: OvnDatabase = 'northbound'): Promise<number> {
  return Number((await runAt(central, ['stat', '-c', '%s', databaseFiles[database]])).trim())
}

/** What was appended since a position, as it stands in the file: for a reader who wonders who wrote. */
export function readLog(
  central: Place,
  since: number,
  database: OvnDatabase = 'northbound',
): Promise<string> {
  return runAt(central, ['tail', '-c', `+${since + 1}`, databaseFiles[database]])
}

/**
 * Counts the transactions that were committed since a position, from the server's own log; of the Northbound, those of clients other than
 * northd.
 */
export async function countTransactions(
  central: Place,
  since: number,
  database: OvnDatabase = 'northbound',
): Promise<number> {
  const records = parseRecords(await readLog(central, since, database))
  return database === 'southbound' ? records.length : records.filter((record) => !isNorthds(record)).length
}

/** Each record is a line with a header and a line of JSON: table, row, columns written. */
export function parseRecords(log: string): readonly Tables[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Tables)
}

/** Says whether a transaction of the Northbound wrote nothing but what ovn-northd writes. */
export function isNorthds(record: Tables): boolean {
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
