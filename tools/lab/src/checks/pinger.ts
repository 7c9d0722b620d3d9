import { chartNamespace, upgradeChart, type ChartValues } from '../chart.ts'
import { ofStack, worldAddress, worldName } from '../cluster/topology.ts'
import { injectFault } from '../faults/inject.ts'
import { addressesOfPod, untilPodsReady, untilRolledOut, type PodObject } from '../kubernetes/workloads.ts'
import { samplesOf, type Sample } from '../observe/metrics.ts'
import { claimRow, equalRow, firstOf, nodeOf, type Check, type CheckRow } from './check.ts'
import { beTheWorld, breakagesAround, type Breakage } from './pinger-breakages.ts'
import { runPingerJob, type PingerJob } from './pinger-job.ts'
import { doneChecks, failedChecks, readPages, seenRow } from './pinger-pages.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** Each of them has to be well in a lab in which nothing is broken. */
const checks = new Set([
  ...['apiserver', 'external', 'external-dns', 'internal-dns', 'node', 'node-tcp', 'node-udp'],
  ...['ovn-controller', 'ovs', 'pod', 'pod-tcp', 'pod-udp', 'port-bindings', 'service', 'targets'],
])

/** A pinger on each node sees what is well, and what is broken: each fault in its own metric, and in how a job ends. */
export const pinger: Check = {
  name: 'pinger',
  async run(cluster) {
    await using _world = await beTheWorld(cluster)
    await using _pingers = await switchOn(cluster)
    const pods = await untilPodsReady(
      cluster.api,
      chartNamespace,
      'app=kube-ovn-pinger',
      cluster.nodes.length,
    )
    const own = firstOf(pods, 'pinger')
    const rows: CheckRow[] = [
      await wellRow(cluster, pods, 'every check is well on every node'),
      ...(await valueRows(cluster, pods)),
      ...(await vswitchRows(cluster, pods)),
      jobRow('a job ends well', await runPingerJob(cluster, own), []),
      await toldPortsRow(cluster, own),
    ]
    for (const breakage of breakagesAround(cluster, own, pods.slice(1)))
      rows.push(...(await breakageRows(cluster, pods, breakage)))
    rows.push(...(await tunnelRows(cluster, pods)))
    rows.push(await wellRow(cluster, pods, 'every check is well again once all is repaired'))
    return rows
  },
}

async function switchOn(cluster: Cluster): Promise<AsyncDisposable> {
  const { ipv4: v4, ipv6: v6 } = worldAddress
  const name = `${worldName}.`
  const targets = { externalAddresses: { v4, v6 }, externalDomain: { v4: name, v6: name } }
  const values: ChartValues = { pinger: { enabled: true, enableVerboseConnCheck: true, targets } }
  await upgradeChart(cluster, values)
  await untilRolledOut(cluster.api, 'daemonsets', chartNamespace, 'kube-ovn-pinger')
  return { [Symbol.asyncDispose]: () => upgradeChart(cluster, {}) }
}

function wellRow(cluster: Cluster, pods: readonly PodObject[], name: string): Promise<CheckRow> {
  return seenRow(
    cluster,
    pods,
    name,
    ({ page }) => isSame(doneChecks(page), checks) && failedChecks(page).size === 0,
  )
}

/** Series for each target and family, with times that packets really took. */
async function valueRows(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly CheckRow[]> {
  const families = ofStack(cluster.topology.stack, worldAddress).length
  const pages = await readPages(cluster, pods)
  const latencies = (kind: string, targets: number): CheckRow => {
    const counted = pages.flatMap(({ page }) => realLatencies(page, `pinger_${kind}_ping_latency_ms`))
    return equalRow(`latencies of every ${kind} over every family`, pods.length * targets, counted.length)
  }
  const each = (name: string, of: string, isGood: (sample: Sample) => boolean): CheckRow => {
    const found = pages.flatMap(({ page }) => samplesOf(page, name))
    const isOk = found.length === pages.length && found.every(isGood)
    return claimRow(of, isOk, 'shown', found.map(({ line }) => line).join('; ') || 'not shown')
  }
  return [
    latencies('pod', pods.length * families),
    latencies('node', cluster.nodes.length * families),
    latencies('external', families),
    ...['apiserver', 'internal_dns', 'external_dns'].map((what) =>
      each(`pinger_${what}_latency_ms_sum`, `latency of ${what}`, ({ value }) => value > 0),
    ),
    each('pinger_inconsistent_port_binding', 'no interface is bound elsewhere', ({ value }) => value === 0),
  ]
}

/** What Open vSwitch of each node tells of itself, and of the pinger's own interface. */
async function vswitchRows(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly CheckRow[]> {
  const shown = (
    of: string,
    name: string,
    count: number,
    isGood: (sample: Sample, pod: PodObject) => boolean,
  ): Promise<CheckRow> =>
    seenRow(cluster, pods, of, ({ pod, page }) => {
      const found = samplesOf(page, `kube_ovn_${name}`)
      return found.filter((sample) => isGood(sample, pod)).length === count
    })
  return [
    await shown('both daemons of Open vSwitch are up', 'ovs_status', 2, ({ value }) => value === 1),
    await shown('it says what it is', 'ovs_info', 1, ({ labels }) => labels['system_id'] !== ''),
    await shown('its data path has flows', 'dp_flows_total', 1, ({ value }) => value > 0),
    await shown('its data path has found flows', 'dp_flows_lookup_hit', 1, ({ value }) => value > 0),
    await shown('its database has a size', 'db_file_size_bytes', 1, ({ value }) => value > 0),
    await shown('both logs have a size', 'log_file_size_bytes', 2, () => true),
    await shown(
      "packets of the pinger's own interface are counted",
      'interface_rx_packets',
      1,
      ({ labels, value }, pod) => labels['pod_name'] === pod.metadata.name && value > 0,
    ),
  ]
}

/** Targets whose packets have come back, and took some time. */
function realLatencies(page: string, name: string): readonly Sample[] {
  return samplesOf(page, `${name}_sum`).filter(({ value }) => value > 0)
}

/** What pingers and a job say while something is broken. Both ask at the same time: what they find does not change. */
async function breakageRows(
  cluster: Cluster,
  pods: readonly PodObject[],
  { what, fails, failsElsewhere, failsInJob = fails, ...breakage }: Breakage,
): Promise<readonly CheckRow[]> {
  const own = firstOf(pods, 'pinger')
  await using _broken = await breakage.break()
  const [job, row] = await Promise.all([
    runPingerJob(cluster, own),
    seenRow(
      cluster,
      pods,
      `${what}: ${fails.join(', ')} fail there, ${failsElsewhere.join(', ')} elsewhere, nothing else`,
      (one) =>
        isSame(failedChecks(one.page), new Set(one.pod === own ? fails : failsElsewhere)) &&
        breakage.isShown(one),
    ),
  ])
  return [row, jobRow(`${what}: a job ends badly`, job, failsInJob)]
}

function jobRow(name: string, { exitCode, failed }: PingerJob, expected: readonly string[]): CheckRow {
  const text = (code: number, names: Iterable<string>): string => [code, ...[...names].toSorted()].join(' ')
  return equalRow(name, text(expected.length === 0 ? 0 : 1, expected), text(exitCode, failed))
}

/** Ports of which only the job is told: one that answers, and one that does not. */
async function toldPortsRow(cluster: Cluster, pod: PodObject): Promise<CheckRow> {
  const [address = ''] = addressesOfPod(pod)
  const flag = `--target-ip-ports=tcp-${address}-8080,tcp-${address}-9`
  const job = await runPingerJob(cluster, pod, [flag])
  const row = jobRow('a job that is told of a port that is closed ends badly', job, ['target-ip-ports'])
  return row.isOk && !job.good.has('target-ip-ports') ? { ...row, isOk: false, seen: 'no port answers' } : row
}

/** Nodes are well: what fails is between them. */
async function tunnelRows(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly CheckRow[]> {
  if (cluster.nodes.length < 2) return []
  const own = firstOf(pods, 'pinger')
  const { name: node } = nodeOf(cluster, own)
  await using _cut = await injectFault(cluster, { kind: 'partition', node, from: { network: 'tunnel' } })
  return [
    await seenRow(
      cluster,
      [own],
      'packets to pods of other nodes are lost when tunnels are cut',
      ({ page }) => {
        const lost = samplesOf(page, 'pinger_pod_ping_lost_total')
        const far = lost.filter(({ labels }) => labels['target_node_name'] !== node)
        return failedChecks(page).has('pod') && far.every(({ value }) => value >= 3)
      },
    ),
  ]
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.symmetricDifference(other).size === 0
}
