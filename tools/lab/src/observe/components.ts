import type { Cluster } from '../cluster/cluster.ts'
import { chartNamespace } from '../chart.ts'
import type { PodObject } from '../kubernetes/workloads.ts'
import { readProcesses, type ObservedProcess } from './processes.ts'

/** Programs of the control machine and of nodes that are looked at by themselves, beside the chart's pods. */
const machinePrograms = new Set(['etcd', 'kube-apiserver', 'kubelet', 'containerd', 'kube-proxy'])

/** The processes of each component: `kube-ovn-controller node`, `ovn-central ovsdb-server`, `kubelet`. */
export type Components = ReadonlyMap<string, readonly ObservedProcess[]>

const podCgroup = /\/pod([0-9a-f-]{36})\//

/** Finds the processes of the chart's pods and of Kubernetes itself, over all nodes. */
export async function readComponents(cluster: Cluster): Promise<Components> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=app.kubernetes.io%2Fpart-of%3Dkube-ovn`
  const pods = await cluster.api.list<PodObject>(path)
  const names = new Map(
    pods.map(({ metadata }) => [metadata.uid ?? '', metadata.labels?.['app.kubernetes.io/name'] ?? '']),
  )
  const machines = [cluster.control, ...cluster.nodes.map(({ container }) => container)]
  const components = new Map<string, ObservedProcess[]>()
  function add(name: string, process: ObservedProcess): void {
    components.set(name, [...(components.get(name) ?? []), process])
  }
  for (const [uid, name] of names) {
    const isOfPod = (cgroup: string): boolean => podCgroup.exec(cgroup)?.[1] === uid
    for (const process of readProcesses(isOfPod)) {
      // The sandbox, and shells that wait for what they started.
      if (['catatonit', 'sh', 'bash', 'sleep'].includes(process.command)) continue
      add(`${name} ${process.command}`, process)
    }
  }
  const isOfMachine = (cgroup: string): boolean =>
    machines.some(({ id }) => cgroup.includes(id)) && !podCgroup.test(cgroup)
  for (const process of readProcesses(isOfMachine))
    if (machinePrograms.has(process.command)) add(process.command, process)
  return components
}

/** What a component used between two looks at it, over all its processes. */
export interface ComponentUse {
  readonly name: string
  readonly cpuSeconds: number
  /** At the second look. */
  readonly residentMib: number
}

/** Compares two looks; a process that began in between has used all that it has used since. */
export function usedBetween(before: Components, after: Components): readonly ComponentUse[] {
  return [...after]
    .map(([name, processes]) => {
      const earlier = new Map((before.get(name) ?? []).map(({ pid, cpuSeconds }) => [pid, cpuSeconds]))
      const cpuSeconds = processes.reduce(
        (sum, process) => sum + process.cpuSeconds - (earlier.get(process.pid) ?? 0),
        0,
      )
      const residentBytes = processes.reduce((sum, process) => sum + process.residentBytes, 0)
      return { name, cpuSeconds, residentMib: residentBytes / 1024 / 1024 }
    })
    .sort((a, b) => b.cpuSeconds - a.cpuSeconds)
}
