import type { Cluster } from '../cluster/cluster.ts'
import { injectFault } from '../faults/inject.ts'
import { runAt } from '../namespaces.ts'
import { eventually } from '../kubernetes/wait.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import { databaseLeader } from '../observe/database-leader.ts'
import { samplesOf } from '../observe/metrics.ts'
import { firstOf, happensRow, type CheckRow } from './check.ts'

/** A switch and a port that nobody of the product knows. */
const stray = 'lab-stray'
/** Longer than a monitor takes from one look to the next. */
const patience = { timeoutMs: 90_000, pauseMs: 500 }

/** Reads what the monitor of a pod shows. */
type ReadPage = (pod: PodObject) => Promise<string>

/**
 * Breaks one thing after the other, all of which stay broken until the end, and sees each in what monitors show.
 *
 * The first monitor's own databases are what hangs; the others miss its member of the cluster.
 */
export async function breakageRows(
  cluster: Cluster,
  pods: readonly PodObject[],
  readPage: ReadPage,
): Promise<readonly CheckRow[]> {
  await using stack = new AsyncDisposableStack()
  const showsTogether = (
    name: string,
    of: readonly PodObject[],
    areShown: (pages: readonly string[]) => boolean,
  ): Promise<CheckRow> =>
    happensRow(name, 'shown', () =>
      eventually(
        name,
        async () => (areShown(await Promise.all(of.map(readPage))) ? true : undefined),
        patience,
      ),
    )
  const shows = (
    name: string,
    of: readonly PodObject[],
    isShown: (page: string) => boolean,
  ): Promise<CheckRow> => showsTogether(name, of, (pages) => pages.every(isShown))
  const own = firstOf(pods, 'monitor')
  const others = pods.filter((pod) => pod !== own)
  const machine = own.spec.nodeName ?? ''
  /** The leader may be another one when one of them is cut off. */
  const nbctl = async (...args: readonly string[]): Promise<string> => {
    const { place } = await databaseLeader(cluster, 'northbound')
    return runAt(place, ['ovn-nbctl', '--timeout=30', ...args])
  }
  const node = firstOf(cluster.nodes, 'node').name
  const rows: CheckRow[] = []

  stack.use(
    await injectFault(cluster, { kind: 'pause', target: { machine: node, component: 'ovn-controller' } }),
  )
  await nbctl('--wait=sb', 'sync')
  rows.push(
    await shows(
      'a chassis whose flows are of before is counted',
      pods,
      (page) => odd(page, 'chassis-behind') === 1,
    ),
  )
  for (const { spec } of pods)
    stack.use(
      await injectFault(cluster, {
        kind: 'pause',
        target: { machine: spec.nodeName ?? '', component: 'northd' },
      }),
    )
  stack.defer(async () => void (await nbctl('--if-exists', 'ls-del', stray)))
  await nbctl('ls-add', stray, '--', 'lsp-add', stray, stray)
  rows.push(
    await shows(
      'a switch and a port that ovn-northd does not bring over are counted',
      pods,
      (page) => odd(page, 'switch-without-datapath') === 1 && odd(page, 'port-without-binding') === 1,
    ),
    await shows('ovn-northd that hangs is down', pods, (page) =>
      isZero(page, 'ovn_status', 'component', 'ovn-northd'),
    ),
  )
  if (others.length > 0) {
    stack.use(await injectFault(cluster, { kind: 'partition', node: machine, from: { service: 'raft' } }))
    // Whoever leads the others: nobody else hears that somebody is silent.
    rows.push(
      await showsTogether('others miss the member of a cluster that is gone', others, (pages) =>
        ['OVN_Northbound', 'OVN_Southbound'].every((database) =>
          pages
            .flatMap((page) => samplesOf(page, 'kube_ovn_cluster_outbound_connections_error_total'))
            .some(({ labels, value }) => labels['db_name'] === database && value > 0),
        ),
      ),
    )
  }
  stack.use(await injectFault(cluster, { kind: 'pause', target: { machine, component: 'southbound' } }))
  rows.push(
    await shows(
      'a database that hangs is down, its rows are shown no more, and the other one is fine',
      [own],
      (page) =>
        isZero(page, 'ovn_status', 'component', 'ovsdb-server-southbound') &&
        isZero(page, 'db_status', 'db_name', 'OVN_Southbound') &&
        isZero(page, 'monitor_source_up', 'source', 'southbound') &&
        // A member that is cut off from its cluster may not be asked either.
        (others.length > 0 || !isZero(page, 'monitor_source_up', 'source', 'northbound')) &&
        samplesOf(page, 'kube_ovn_chassis_info').length === 0 &&
        samplesOf(page, 'kube_ovn_inconsistent_objects').length === 0,
    ),
  )
  return rows
}

function odd(page: string, kind: string): number | undefined {
  return samplesOf(page, 'kube_ovn_inconsistent_objects').find(({ labels }) => labels['kind'] === kind)?.value
}

/** Whether a series is there and is 0. */
function isZero(page: string, name: string, label: string, wanted: string): boolean {
  return samplesOf(page, `kube_ovn_${name}`).some(
    ({ labels, value }) => labels[label] === wanted && value === 0,
  )
}
