import { runAt, type Place } from '../namespaces.ts'
import { databaseServers, statusCommand, type OvnDatabase } from './database-servers.ts'

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

/** A transaction as it stands in the file of a database: table, row, columns written; `null` for a row that goes. */
export type DatabaseRecord = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, unknown>> | null>>>
>

/** With which the file of a member of a raft cluster begins, as that of a server alone begins with `OVSDB JSON`. */
const clusterMagic = 'OVSDB CLUSTER'

/**
 * The present end of a database's log, for whoever reads on from there later.
 *
 * Of a server alone it is the size of its file, which only grows by transactions that change something, and shrinks by compaction, which
 * takes far more of them than a suite makes. Of a raft cluster it is the index that the next entry gets, which is the same whichever member
 * is asked: another may lead by the time that the log is read.
 */
export async function logPosition(central: Place, database: OvnDatabase = 'northbound'): Promise<number> {
  if (!(await isClustered(central, database)))
    return Number((await runAt(central, ['stat', '-c', '%s', databaseServers[database].file])).trim())
  const status = await runAt(central, statusCommand(database))
  return Number(/^Log: \[\d+, (\d+)\]$/m.exec(status)?.[1])
}

/** The transactions since a position, a line of JSON for each, as they stand in the file: for a reader who wonders who wrote. */
export async function readLog(
  central: Place,
  since: number,
  database: OvnDatabase = 'northbound',
): Promise<string> {
  const { file } = databaseServers[database]
  const isOfCluster = await isClustered(central, database)
  const log = await runAt(central, isOfCluster ? ['cat', file] : ['tail', '-c', `+${since + 1}`, file])
  return (isOfCluster ? entriesSince(log, since) : linesOf(log)).join('\n')
}

async function isClustered(central: Place, database: OvnDatabase): Promise<boolean> {
  const head = ['head', '-c', String(clusterMagic.length), databaseServers[database].file]
  return (await runAt(central, head)) === clusterMagic
}

/**
 * Counts the transactions that were committed since a position, from the server's own log; of the Northbound, those of clients other than
 * northd.
 *
 * @param row only those that wrote to it
 */
export async function countTransactions(
  central: Place,
  since: number,
  database: OvnDatabase = 'northbound',
  row?: { readonly table: string; readonly uuid: string },
): Promise<number> {
  const all = parseRecords(await readLog(central, since, database))
  const records = row === undefined ? all : all.filter((record) => row.uuid in (record[row.table] ?? {}))
  return database === 'southbound' ? records.length : records.filter((record) => !isNorthds(record)).length
}

/** Each record is a line with a header and a line of JSON: table, row, columns written. */
export function parseRecords(log: string): readonly DatabaseRecord[] {
  return linesOf(log).map((line) => JSON.parse(line) as DatabaseRecord)
}

/** What a record of a raft log is, as far as it is an entry (ovsdb/raft.c, raft_record_to_json). */
interface RaftRecord {
  readonly index?: number
  /** The schema, if the entry changes it, and the transaction. */
  readonly data?: readonly [unknown, DatabaseRecord | null]
}

/**
 * The transactions of a raft log from an index on. Beside them it has terms, votes, what is committed, and the empty entry with which a
 * leader begins.
 */
export function entriesSince(log: string, since: number): readonly string[] {
  const records = linesOf(log).map((line) => JSON.parse(line) as RaftRecord)
  // An entry that was not committed when its leader was lost is there again under the same index, as its successor has it.
  const entries = new Map(
    records.flatMap(({ index, data }) => (index === undefined ? [] : [[index, data?.[1]] as const])),
  )
  return [...entries].flatMap(([index, tables]) =>
    index >= since && tables !== undefined && tables !== null ? [JSON.stringify(tables)] : [],
  )
}

function linesOf(log: string): string[] {
  return log.split('\n').filter((line) => line.startsWith('{'))
}

/** Says whether a transaction of the Northbound wrote nothing but what ovn-northd writes. */
export function isNorthds(record: DatabaseRecord): boolean {
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
