import type { Cluster, PodObject } from '@kube-ovn/lab'
import { isPodReady, runAt } from '@kube-ovn/lab'
import { createBenchLab, createPods, deletePods, podsPath } from './bench-lab.ts'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { percentile, rounded } from './statistics.ts'
import { installBridge, removeBridge } from './bridge-network.ts'

const together = 30
const rounds = 3

/** Compares how long pods take to be Ready with the plain bridge plugin on the same cluster. */
export const podReady: Benchmark = {
  name: 'pod-ready',
  summary: 'time from scheduled to Ready, divided by that with the plain bridge plugin on the same cluster',
  async run(): Promise<BenchmarkResult> {
    await using cluster = await createBenchLab('bench-pod-ready')
    const ours = { many: [] as number[], one: [] as number[] }
    const bridge = { many: [] as number[], one: [] as number[] }
    await measure(cluster, 2)
    for (let round = 1; round <= rounds; round++) {
      ours.one.push(...(await measure(cluster, 1)))
      ours.many.push(...(await measure(cluster, together)))
      await installBridge(cluster)
      bridge.one.push(...(await measure(cluster, 1)))
      bridge.many.push(...(await measure(cluster, together)))
      await removeBridge(cluster)
      console.log(
        `round ${round} of ${rounds}: ${together} pods ${show(ours.many)} (bridge ${show(bridge.many)})`,
      )
    }
    const [p50, bridgeP50] = [percentile(ours.many, 0.5), percentile(bridge.many, 0.5)]
    const [one, bridgeOne] = [percentile(ours.one, 0.5), percentile(bridge.one, 0.5)]
    return {
      value: rounded(p50 / bridgeP50),
      unit: 'ratio',
      oneRatio: rounded(one / bridgeOne),
      p50: Math.round(p50),
      p99: Math.round(percentile(ours.many, 0.99)),
      bridgeP50: Math.round(bridgeP50),
      bridgeP99: Math.round(percentile(bridge.many, 0.99)),
      one: Math.round(one),
      bridgeOne: Math.round(bridgeOne),
    }
  },
}

function show(values: readonly number[]): string {
  return `p50 ${Math.round(percentile(values, 0.5))} ms`
}

/** Creates pods at once and tells for each the milliseconds from being scheduled to being Ready, as a watch shows them. */
async function measure(cluster: Cluster, count: number): Promise<readonly number[]> {
  const scheduled = new Map<string, number>()
  const ready = new Map<string, number>()
  const stop = new AbortController()
  const watching = cluster.api.follow<PodObject, true>(
    podsPath,
    (pods) => {
      const now = performance.now()
      for (const pod of pods) {
        const { name } = pod.metadata
        if (pod.spec.nodeName !== undefined && !scheduled.has(name)) scheduled.set(name, now)
        if (isPodReady(pod) && !ready.has(name)) ready.set(name, now)
      }
      return ready.size === count ? true : undefined
    },
    AbortSignal.any([stop.signal, AbortSignal.timeout(300_000)]),
  )
  await createPods(
    cluster,
    Array.from({ length: count }, (_, index) => ({ name: `pod-${index}` })),
  )
  await watching
  await deletePods(cluster)
  await untilNodesQuiet(cluster)
  return [...ready].map(([name, at]) => at - (scheduled.get(name) ?? at))
}

/** Waits until the nodes have removed the sandboxes of deleted pods, so that one round does not burden the next. */
async function untilNodesQuiet(cluster: Cluster): Promise<void> {
  for (const node of cluster.nodes) {
    await runAt(node.place, [
      'sh',
      '-c',
      'for i in $(seq 100); do ctr -n k8s.io tasks ls -q | wc -l > /tmp/tasks.now; cmp -s /tmp/tasks.now /tmp/tasks.before && exit 0; cp /tmp/tasks.now /tmp/tasks.before; sleep 0.5; done',
    ])
  }
}
