import { createInterface } from 'node:readline'
import { chartNamespace } from '../chart.ts'
import { runAt, startAt, type Place } from '../namespaces.ts'
import { untilPodsReady } from '../kubernetes/workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { databaseLeader } from './database-leader.ts'

const databaseSocket = 'unix:/var/run/ovn/ovnnb_db.sock'

/** The container of ovn-central, with OVN's own tools in it; of several, that of the Northbound's leader, which takes writes. */
export async function ovnCentral(cluster: Cluster): Promise<Place> {
  const masters = cluster.topology.nodes.filter(({ isMaster }) => isMaster).length
  await untilPodsReady(cluster.api, chartNamespace, 'app=ovn-central', masters)
  return (await databaseLeader(cluster, 'northbound')).place
}

/** Runs ovn-nbctl as an operator would, and returns what it prints. */
export async function nbctl(central: Place, ...args: readonly string[]): Promise<string> {
  return (await runAt(central, ['ovn-nbctl', '--timeout=10', ...args])).trim()
}

/** Reads one column of the rows of a table that fulfil the conditions. */
export async function findColumn(
  central: Place,
  table: string,
  column: string,
  ...conditions: readonly string[]
): Promise<readonly string[]> {
  const options = ['--bare', '--no-headings', `--columns=${column}`]
  const output = await nbctl(central, ...options, 'find', table, ...conditions)
  return output.split('\n').filter((line) => line !== '')
}

/** Reads one column of one row. */
export function readColumn(central: Place, table: string, uuid: string, column: string): Promise<string> {
  return nbctl(central, '--bare', '--no-headings', `--columns=${column}`, 'list', table, uuid)
}

/** The addresses with ports that load balancers serve, and the backends of each as text, empty where there are none. */
export async function loadBalancerVips(central: Place): Promise<readonly (readonly [string, string])[]> {
  const text = await nbctl(central, '--format=json', '--columns=vips', 'list', 'Load_Balancer')
  const { data } = JSON.parse(text) as MonitorTable
  return data.flatMap(([vips]) => (vips as readonly ['map', readonly (readonly [string, string])[]])[1])
}

/** A change that the Northbound announced. */
export interface RowChange {
  readonly action: 'initial' | 'insert' | 'delete' | 'old' | 'new'
  readonly columns: Readonly<Record<string, unknown>>
  /** `performance.now()` when it was read. */
  readonly at: number
}

interface MonitorTable {
  readonly headings: readonly string[]
  readonly data: readonly (readonly unknown[])[]
}

/**
 * Follows a table with OVN's own client, not with ours, until `isWanted` holds for a change; what is there already is not a change.
 *
 * `act` is called once the client follows, so that nothing it causes is missed. It says whether what is wanted is there by the time
 * it ends: a server that is busy sends two changes that cancel each other as none.
 *
 * @returns the time from the end of `act` to the change in milliseconds, or undefined if it did not come within the limit
 */
export async function untilRowChange(
  central: Place,
  table: string,
  columns: readonly string[],
  act: () => Promise<boolean>,
  isWanted: (change: RowChange) => boolean,
  limitMs: number,
): Promise<number | undefined> {
  const child = startAt(central, [
    ...[
      'ovsdb-client',
      '--format=json',
      'monitor',
      databaseSocket,
      'OVN_Northbound',
      table,
      columns.join(','),
    ],
  ])
  const timer = setTimeout(() => child.kill(), limitMs)
  let acted: number | undefined
  try {
    if (child.stdout === null) return undefined
    for await (const line of createInterface({ input: child.stdout })) {
      const changes = parseMonitorLine(line)
      if (acted === undefined) {
        if (await act()) return 0
        acted = performance.now()
        continue
      }
      const wanted = changes.find(
        (change) => change.action !== 'delete' && change.action !== 'old' && isWanted(change),
      )
      if (wanted === undefined) continue
      return Math.max(0, wanted.at - acted)
    }
    return undefined
  } finally {
    clearTimeout(timer)
    child.kill()
  }
}

function parseMonitorLine(line: string): RowChange[] {
  const at = performance.now()
  const { headings, data } = JSON.parse(line) as MonitorTable
  return data.map((row) => ({
    at,
    action: row[headings.indexOf('action')] as RowChange['action'],
    columns: Object.fromEntries(headings.map((heading, index) => [heading, row[index]])),
  }))
}
