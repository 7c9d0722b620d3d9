import { objectTables, unexplainedRows, type SampledRow } from '@kube-ovn/ovn-names'
import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { LabTimeoutError } from '../errors.ts'
import { eventually } from '../kubernetes/wait.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import { runAt } from '../namespaces.ts'
import { ovnCentral } from '../observe/northbound.ts'
import { readTables } from './database-rows.ts'

/**
 * Asks of every row of the Northbound which object it is of, as `kubectl ko explain` does, again and again until each is of one: one that
 * somebody has just changed is put right in a moment.
 *
 * @returns rows that are still of no object, and of nothing that is there once, when the time is up
 */
export async function findUnexplainedRows(cluster: Cluster, timeoutMs = 60_000): Promise<readonly string[]> {
  // A suite may take the product away in the end.
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3Dovn-central`
  if ((await cluster.api.list<PodObject>(path)).length === 0) return []
  let last: readonly string[] = []
  try {
    await eventually(
      'every row is of an object',
      async () => {
        const central = await ovnCentral(cluster)
        const server = 'unix:/var/run/ovn/ovnnb_db.sock'
        const dump = await runAt(central, ['ovsdb-client', '--format=json', 'dump', server, 'OVN_Northbound'])
        last = unexplainedIn(dump)
        return last.length === 0 ? true : undefined
      },
      { timeoutMs, pauseMs: 500 },
    )
  } catch (error) {
    if (!(error instanceof LabTimeoutError) || last.length === 0) throw error
  }
  return last
}

const looked: ReadonlySet<string> = new Set(objectTables)

/** Of a dump as `ovsdb-client --format=json dump` prints it: rows whose owner is not known, as text. */
export function unexplainedIn(dump: string): readonly string[] {
  const rows = readTables(dump).flatMap(({ table, rows: found }) =>
    looked.has(table) ? found.map((columns) => markedRow(table, columns)) : [],
  )
  return unexplainedRows(rows).map(({ text }) => text)
}

function markedRow(table: string, columns: ReadonlyMap<string, unknown>): SampledRow {
  const [ids, sample] = [columns.get('external_ids'), columns.get('sample_new')] as readonly (
    readonly [string, unknown] | undefined
  )[]
  return {
    table,
    row: String((columns.get('_uuid') as readonly [string, unknown] | undefined)?.[1]),
    name: typeof columns.get('name') === 'string' ? String(columns.get('name')) : '',
    externalIds: new Map((ids?.[1] ?? []) as readonly (readonly [string, string])[]),
    sample: sample?.[0] === 'uuid' ? String(sample[1]) : '',
  }
}
