import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chartNamespace, untilPodsReady } from '@kube-ovn/lab'
import type { Cluster, LabNode } from '@kube-ovn/lab'
import { benchNamespace, createBenchLab, deletePods, idlePod } from './bench-lab.ts'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { runOnNode } from './node-process.ts'
import { percentile, rounded } from './statistics.ts'

const pods = 100
const plugin = '/opt/cni/bin/kube-ovn'
const socket = '/run/openvswitch/kube-ovn-daemon.sock'

/** What one ADD took, in milliseconds. */
interface Timing {
  readonly total: number
  readonly plugin: number
  readonly agent: number
  readonly controller: number
  readonly ovn: number
}

/**
 * Times the plugin as the runtime calls it.
 *
 * kubelet is stopped meanwhile: pods are bound to its node, and the benchmark executes the plugin for them in its place, at the
 * moment at which the scheduler would have chosen the node.
 */
export const cniAdd: Benchmark = {
  name: 'cni-add',
  summary: 'milliseconds from executing the plugin to its answer, p50 of 100 pods, and where they go',
  async run(): Promise<BenchmarkResult> {
    await using cluster = await createBenchLab('bench-cni-add')
    const [node] = cluster.nodes
    if (node === undefined) throw new TypeError('a lab has nodes')
    await untilPodsReady(cluster.api, chartNamespace, 'app=kube-ovn-cni', cluster.nodes.length)
    const kubelet = findKubelet(node)
    process.kill(kubelet, 'SIGSTOP')
    const totals = new Map<string, number>()
    try {
      const baseline = await timeOfEntering(node)
      console.log(`entering the node takes ${rounded(baseline)} ms, which is taken off`)
      for (let index = 0; index < pods; index++) {
        const name = `add-${index}`
        totals.set(name, (await addOne(cluster, node, name)) - baseline)
        if (index % 10 === 9)
          console.log(`${index + 1} of ${pods}: p50 ${rounded(percentile([...totals.values()], 0.5))} ms`)
      }
    } finally {
      process.kill(kubelet, 'SIGCONT')
    }
    const timings = combine(totals, await readAgentTimings(cluster, node))
    await removeNamespaces(node, [...totals.keys()])
    await deletePods(cluster)
    const p50 = (part: keyof Timing): number =>
      rounded(
        percentile(
          timings.map((timing) => timing[part]),
          0.5,
        ),
      )
    return {
      value: p50('total'),
      unit: 'ms',
      p99: rounded(
        percentile(
          timings.map(({ total }) => total),
          0.99,
        ),
      ),
      pluginP50: p50('plugin'),
      agentP50: p50('agent'),
      controllerP50: p50('controller'),
      ovnP50: p50('ovn'),
    }
  },
}

/** The kubelet of the node, by its id on this machine. */
function findKubelet(node: LabNode): number {
  const files = readlinkSync(`/proc/${node.place.machinePid}/ns/mnt`)
  const found = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && isKubeletOf(entry, files))
  if (found === undefined) throw new TypeError(`no kubelet runs on ${node.name}`)
  return Number(found)
}

function isKubeletOf(pid: string, files: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid}/comm`, 'utf8') === 'kubelet\n' &&
      readlinkSync(`/proc/${pid}/ns/mnt`) === files
    )
  } catch {
    // It ended while it was looked at.
    return false
  }
}

async function timeOfEntering(node: LabNode): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < 20; index++) {
    const startedMs = performance.now()
    await runOnNode(node, ['true'])
    times.push(performance.now() - startedMs)
  }
  return percentile(times, 0.5)
}

async function addOne(cluster: Cluster, node: LabNode, name: string): Promise<number> {
  await runOnNode(node, ['ip', 'netns', 'add', name])
  const pod = await cluster.api.create(idlePod({ name, nodeName: node.name }))
  const configuration = JSON.stringify({
    cniVersion: '0.3.1',
    name: 'kube-ovn',
    type: 'kube-ovn',
    server_socket: socket,
  })
  const startedMs = performance.now()
  const result = await runOnNode(node, [plugin], {
    input: configuration,
    env: {
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: (pod.metadata.uid ?? '').replaceAll('-', ''),
      CNI_NETNS: `/var/run/netns/${name}`,
      CNI_IFNAME: 'eth0',
      CNI_PATH: '/opt/cni/bin',
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${benchNamespace};K8S_POD_NAME=${name};K8S_POD_UID=${pod.metadata.uid ?? ''}`,
    },
  })
  const ms = performance.now() - startedMs
  if (result.exitCode !== 0) throw new Error(`the plugin failed: ${result.output}`)
  return ms
}

interface AgentLine {
  readonly msg: string
  readonly pod?: string
  readonly agentMs?: number
  readonly controllerWaitMs?: number
  readonly ovnWaitMs?: number
}

/** The agent's own account of each ADD, from its container's log on the node. */
async function readAgentTimings(cluster: Cluster, node: LabNode): Promise<ReadonlyMap<string, AgentLine>> {
  const agents = await untilPodsReady(cluster.api, chartNamespace, 'app=kube-ovn-cni', cluster.nodes.length)
  const uid = agents.find((agent) => agent.spec.nodeName === node.name)?.metadata.uid ?? ''
  const logs = `/proc/${node.place.machinePid}/root/var/log/pods`
  const folder = readdirSync(logs).find((entry) => entry.endsWith(uid)) ?? ''
  const container = `${logs}/${folder}/cni-server`
  const lines = readdirSync(container).flatMap((file) =>
    readFileSync(`${container}/${file}`, 'utf8').split('\n'),
  )
  const parsed = lines
    .map((line) => line.slice(line.indexOf('{')))
    .filter((line) => line.startsWith('{') && line.includes('attachment added'))
    .map((line) => JSON.parse(line) as AgentLine)
  return new Map(parsed.map((line) => [(line.pod ?? '').split('/')[1] ?? '', line]))
}

function combine(
  totals: ReadonlyMap<string, number>,
  lines: ReadonlyMap<string, AgentLine>,
): readonly Timing[] {
  return [...totals].flatMap(([name, total]) => {
    const line = lines.get(name)
    if (line === undefined) return []
    const { agentMs: agent = 0, controllerWaitMs: controller = 0, ovnWaitMs: ovn = 0 } = line
    return [{ total, agent, controller, ovn, plugin: total - agent - controller - ovn }]
  })
}

async function removeNamespaces(node: LabNode, names: readonly string[]): Promise<void> {
  for (const name of names) await runOnNode(node, ['ip', 'netns', 'delete', name])
}
