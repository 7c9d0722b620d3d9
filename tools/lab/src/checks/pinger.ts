import { chartNamespace, upgradeChart, type ChartValues } from '../chart.ts'
import { ofStack, worldAddress, worldName } from '../cluster/topology.ts'
import { ProgramError } from '../errors.ts'
import { injectFault } from '../faults/inject.ts'
import type { Fault } from '../faults/fault.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { eventually } from '../kubernetes/wait.ts'
import { addressesOfPod, untilPodsReady, untilRolledOut, type PodObject } from '../kubernetes/workloads.ts'
import { runAt } from '../namespaces.ts'
import { samplesOf, type Sample } from '../observe/metrics.ts'
import { fetchText } from '../probe/tcp.ts'
import { claimRow, equalRow, firstOf, happensRow, nodeOf, type Check, type CheckRow } from './check.ts'
import type { Cluster, LabNode } from '../cluster/cluster.ts'

const port = 8080
const patience = { timeoutMs: 90_000, pauseMs: 500 }

/** Each of them has to be well in a lab in which nothing is broken. */
const checks = [
  ...['apiserver', 'external', 'external-dns', 'internal-dns', 'node', 'ovn-controller', 'ovs', 'pod'],
  ...['port-bindings', 'service', 'targets'],
]

/** Of the node, as its metrics show it. */
type Pages = readonly { readonly pod: PodObject; readonly node: LabNode; readonly page: string }[]

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
    return [
      await wellRow(cluster, pods, 'every check is well on every node'),
      ...(await valueRows(cluster, pods)),
      ...(await vswitchRows(cluster, pods)),
      equalRow('a job ends well', 0, await exitCodeOfJob(cluster)),
      ...(await outsideRows(cluster, pods)),
      ...(await bindingRows(cluster, pods)),
      ...(await faultRows(cluster, pods)),
      await wellRow(cluster, pods, 'every check is well again once all is repaired'),
    ]
  },
}

/** Gives the address of the world to the outside host, as long as the result lives. */
export async function beTheWorld(cluster: Cluster): Promise<AsyncDisposable> {
  await changeWorld(cluster, 'replace')
  return { [Symbol.asyncDispose]: () => changeWorld(cluster, 'del') }
}

async function changeWorld({ outside }: Cluster, verb: 'replace' | 'del'): Promise<void> {
  await runAt(outside.place, ['ip', '-batch', '-'], {
    input: `address ${verb} ${worldAddress.ipv4}/32 dev lo\naddress ${verb} ${worldAddress.ipv6}/128 dev lo\n`,
  })
}

async function switchOn(cluster: Cluster): Promise<AsyncDisposable> {
  const { ipv4: v4, ipv6: v6 } = worldAddress
  const name = `${worldName}.`
  const targets = { externalAddresses: { v4, v6 }, externalDomain: { v4: name, v6: name } }
  const values: ChartValues = { pinger: { enabled: true, targets } }
  await upgradeChart(cluster, values)
  await untilRolledOut(cluster.api, 'daemonsets', chartNamespace, 'kube-ovn-pinger')
  return { [Symbol.asyncDispose]: () => upgradeChart(cluster, {}) }
}

/** What the pingers show, asked from their own nodes: no fault of a lab is between them. */
function readPages(cluster: Cluster, pods: readonly PodObject[]): Promise<Pages> {
  return Promise.all(
    pods.map(async (pod) => {
      const node = nodeOf(cluster, pod)
      const [address = ''] = addressesOfPod(pod)
      return { pod, node, page: (await fetchText(node.place, address, port, '/metrics')) ?? '' }
    }),
  )
}

function failedChecks(page: string): readonly string[] {
  return samplesOf(page, 'pinger_check_failed').flatMap(({ labels, value }) =>
    value === 1 ? [labels['check'] ?? ''] : [],
  )
}

async function wellRow(cluster: Cluster, pods: readonly PodObject[], name: string): Promise<CheckRow> {
  let last = ''
  const row = await happensRow(name, `${checks.length} checks`, () =>
    eventually(
      name,
      async () => {
        const pages = await readPages(cluster, pods)
        last = pages
          .map(({ node, page }) => `${node.name}: ${failedChecks(page).join(' ') || 'none'}`)
          .join(', ')
        const areAll = pages.every(({ page }) => {
          const done = new Set(
            samplesOf(page, 'pinger_check_failed').map(({ labels }) => labels['check'] ?? ''),
          )
          return done.symmetricDifference(new Set(checks)).size === 0 && failedChecks(page).length === 0
        })
        return areAll ? true : undefined
      },
      patience,
    ),
  )
  return row.isOk ? row : { ...row, seen: `${row.seen}; failed ${last}` }
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

/** Who is asked outside goes, and so does who tells names. */
async function outsideRows(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly CheckRow[]> {
  // Its pods stay: others compare what is there before and after.
  const dns = (isServed: boolean): Promise<unknown> =>
    cluster.api.mergePatch('/api/v1/namespaces/kube-system/services/kube-dns', {
      spec: { selector: { gone: isServed ? null : 'true' } },
    })
  await Promise.all([changeWorld(cluster, 'del'), dns(false)])
  try {
    return [
      await failsRow(cluster, pods, 'external', 'target'),
      await failsRow(cluster, pods, 'internal-dns', 'name server'),
      await failsRow(cluster, pods, 'external-dns', 'name server'),
      await seenRow(cluster, pods, 'packets to an external address that is gone are lost', ({ page }) => {
        const lost = samplesOf(page, 'pinger_external_ping_lost_total')
        return lost.length > 0 && lost.every(({ value }) => value >= 3)
      }),
      await seenRow(cluster, pods, 'names are not found without a name server', ({ page }) =>
        ['internal', 'external'].every(
          (what) => samplesOf(page, `pinger_${what}_dns_unhealthy`)[0]?.value === 1,
        ),
      ),
      equalRow('a job that finds something wrong ends badly', 1, await exitCodeOfJob(cluster)),
    ]
  } finally {
    await Promise.all([changeWorld(cluster, 'replace'), dns(true)])
  }
}

/** An interface of a pod that nobody knows. */
async function bindingRows(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly CheckRow[]> {
  const own = firstOf(pods, 'pinger')
  const { name } = nodeOf(cluster, own)
  const [ovs] = (
    await kubectl(
      cluster,
      ...['get', 'pods', '-n', chartNamespace, '-l', 'app=ovs', '--field-selector', `spec.nodeName=${name}`],
      ...['-o', 'name'],
    )
  ).split('\n')
  const vsctl = (...args: readonly string[]): Promise<string> =>
    kubectl(cluster, 'exec', '-n', chartNamespace, ovs ?? '', '--', 'ovs-vsctl', '--timeout=10', ...args)
  const iface = 'stray0'
  await vsctl(
    ...['add-port', 'br-int', iface, '--', 'set', 'Interface', iface, 'type=internal'],
    'external_ids:iface-id=nobody.nowhere',
  )
  try {
    return [
      await failsRow(cluster, [own], 'port-bindings', 'binding of an interface'),
      await seenRow(cluster, pods, 'it is counted on that node alone', ({ pod, page }) => {
        const [odd] = samplesOf(page, 'pinger_inconsistent_port_binding')
        return odd?.value === (pod === own ? 1 : 0)
      }),
    ]
  } finally {
    await vsctl('del-port', 'br-int', iface)
  }
}

/** Faults of the node that the lab knows. */
async function faultRows(cluster: Cluster, pods: readonly PodObject[]): Promise<readonly CheckRow[]> {
  const own = firstOf(pods, 'pinger')
  const machine = nodeOf(cluster, own).name
  const rows: CheckRow[] = []
  const during = async (fault: Fault, seen: () => Promise<CheckRow>): Promise<void> => {
    await using _fault = await injectFault(cluster, fault)
    rows.push(await seen())
  }
  await during({ kind: 'pause', target: { machine, component: 'ovn-controller' } }, () =>
    seenRow(cluster, pods, 'ovn-controller that hangs is down on its node alone', ({ pod, page }) => {
      const [down] = samplesOf(page, 'pinger_ovn_controller_down')
      return down?.value === (pod === own ? 1 : 0)
    }),
  )
  if (cluster.nodes.length > 1)
    await during({ kind: 'partition', node: machine, from: { network: 'tunnel' } }, () =>
      seenRow(
        cluster,
        [own],
        'packets to pods of other nodes are lost when tunnels are cut',
        ({ node, page }) => {
          const lost = samplesOf(page, 'pinger_pod_ping_lost_total')
          const far = lost.filter(({ labels }) => labels['target_node_name'] !== node.name)
          return failedChecks(page).includes('pod') && far.every(({ value }) => value >= 3)
        },
      ),
    )
  return rows
}

function failsRow(
  cluster: Cluster,
  pods: readonly PodObject[],
  check: string,
  without: string,
): Promise<CheckRow> {
  return seenRow(cluster, pods, `${check} fails without its ${without}`, ({ page }) =>
    failedChecks(page).includes(check),
  )
}

/** A row that holds once all pingers show something. */
function seenRow(
  cluster: Cluster,
  pods: readonly PodObject[],
  name: string,
  isSeen: (one: Pages[number]) => boolean,
): Promise<CheckRow> {
  return happensRow(name, 'shown', () =>
    eventually(
      name,
      async () => ((await readPages(cluster, pods)).every(isSeen) ? true : undefined),
      patience,
    ),
  )
}

async function exitCodeOfJob(cluster: Cluster): Promise<number> {
  const addresses = ofStack(cluster.topology.stack, worldAddress).join()
  const command = ['node', '/kube-ovn/pinger.mjs', '--mode=job', `--external-address=${addresses}`]
  try {
    await kubectl(cluster, 'exec', '-n', chartNamespace, 'ds/kube-ovn-pinger', '--', ...command)
    return 0
  } catch (error) {
    if (error instanceof ProgramError) return Number(error.details.exitCode)
    throw error
  }
}
