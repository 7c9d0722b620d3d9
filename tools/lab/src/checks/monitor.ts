import { urlHost } from '@kube-ovn/ip'
import { chartNamespace } from '../chart.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { samplesOf } from '../observe/metrics.ts'
import { claimRow, happensRow, type Check, type CheckRow } from './check.ts'
import { breakageRows } from './monitor-breakages.ts'

const path = '/metrics'
const port = 10_661
/** What databases can contradict each other in. */
const kindsOfOdd = 7

/** Beside each member of the databases runs a monitor, which shows what it sees. */
export const monitor: Check = {
  name: 'monitor',
  async run(cluster) {
    const pods = await monitors(cluster)
    const pages = await Promise.all(pods.map((pod) => settledPage(pod)))
    return [
      ...pages.map(({ row }) => row),
      await countsRow(
        cluster,
        pages.map(({ text }) => text),
      ),
      ...pages.flatMap(({ text }, index) => rowsOf(pods[index]?.spec.nodeName ?? '', text)),
      ...(await breakageRows(cluster, pods, readPage)),
      ...(await Promise.all(pods.map((pod) => repairedRow(pod)))),
    ]
  },
}

async function monitors({ api }: Cluster): Promise<readonly PodObject[]> {
  const listed = await api.list<PodObject>(
    `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app%3Dovn-central`,
  )
  return untilPodsReady(api, chartNamespace, 'app=kube-ovn-monitor', listed.length)
}

function readPage(pod: PodObject): Promise<string> {
  const [address = ''] = addressesOfPod(pod)
  return fetch(`http://${urlHost(address)}:${port}${path}`).then((response) => response.text())
}

/** The page once nobody is missed; ovn-northd may still be at work on what checks before this one did. */
async function settledPage(pod: PodObject): Promise<{ readonly row: CheckRow; readonly text: string }> {
  let text = ''
  const row = await happensRow(
    `${pod.spec.nodeName ?? ''}: Northbound, Southbound and chassis agree`,
    'agree',
    () =>
      eventually('nothing contradicts', async () => {
        text = await readPage(pod)
        const odd = samplesOf(text, 'kube_ovn_inconsistent_objects')
        return odd.length === kindsOfOdd && odd.every(({ value }) => value === 0) ? true : undefined
      }),
  )
  return { row, text }
}

/** Nobody is missed and everybody answers, as before. */
async function repairedRow(pod: PodObject): Promise<CheckRow> {
  const name = `${pod.spec.nodeName ?? ''}: all is well again once all is repaired`
  return happensRow(name, 'well', () =>
    eventually(
      name,
      async () => {
        const text = await readPage(pod)
        const odd = samplesOf(text, 'kube_ovn_inconsistent_objects')
        const areFine = odd.length === kindsOfOdd && odd.every(({ value }) => value === 0)
        return areFine && rowsOf('', text).every(({ isOk }) => isOk) ? true : undefined
      },
      { timeoutMs: 120_000 },
    ),
  )
}

/** What the monitor counts, and what the databases' own commands do. */
async function countsRow(cluster: Cluster, pages: readonly string[]): Promise<CheckRow> {
  const exec = ['exec', '-n', chartNamespace, 'deploy/ovn-central', '--']
  const list = await kubectl(
    cluster,
    ...[...exec, 'ovn-nbctl', '--no-leader-only', '--bare', '--columns=name', 'list', 'Logical_Switch_Port'],
  )
  const ports = list.split('\n').filter((line) => line !== '').length
  const seen = pages.map((page) => samplesOf(page, 'kube_ovn_logical_switch_port_info').length)
  return claimRow(
    'every port of a switch is shown',
    seen.length > 0 && seen.every((count) => count === ports),
    `${ports} ports`,
    `${seen.join(', ')} of ${ports} ports`,
  )
}

function rowsOf(node: string, page: string): readonly CheckRow[] {
  const all = (name: string, of: string, isGood: (value: number) => boolean, count: number): CheckRow => {
    const found = samplesOf(page, `kube_ovn_${name}`)
    const isOk = found.length === count && found.every(({ value }) => isGood(value))
    return claimRow(`${node}: ${of}`, isOk, 'shown', found.map(({ line }) => line).join('; ') || 'not shown')
  }
  return [
    all('ovn_status', 'databases and ovn-northd are well', (value) => value > 0, 3),
    all('db_status', 'the storage of both databases is fine', (value) => value === 1, 2),
    all('db_file_size_bytes', 'both databases have a size', (value) => value > 0, 2),
    all('log_file_size_bytes', 'three logs have a size', (value) => value >= 0, 3),
    all('monitor_source_up', 'everybody who is asked answers', (value) => value === 1, 7),
  ]
}
