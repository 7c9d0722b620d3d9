import {
  applyAll,
  claimLabName,
  createCluster,
  installChart,
  installDns,
  readExample,
  removeLab,
  removeLeftovers,
  runMatrix,
  untilPodsReady,
  type Cluster,
} from '@kube-ovn/lab'
import { createBenchNamespace, createPods } from './bench-lab.ts'
import { rounded } from './statistics.ts'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'

const id = 'bench-lab'

/** How long one waits for a lab. */
export const lab: Benchmark = {
  name: 'lab',
  summary: 'seconds from nothing to the first Ready pod on two nodes; a matrix of six pods, tear-down',
  async run(): Promise<BenchmarkResult> {
    await removeLeftovers()
    await claimLabName(id)
    const since = performance.now()
    try {
      const cluster = await createCluster({ id, nodes: 2, stack: 'dual' })
      const up = secondsSince(since)
      await installChart(cluster)
      const installed = secondsSince(since)
      await createBenchNamespace(cluster)
      await createPods(cluster, [{ name: 'first' }])
      await untilPodsReady(cluster.api, 'bench', 'app=bench', 1)
      const firstPod = secondsSince(since)
      console.log(`cluster ${up} s, chart ${installed} s, first pod ${firstPod} s`)
      const matrix = await measureMatrix(cluster)
      const end = performance.now()
      cluster.api[Symbol.dispose]()
      await removeLab(id)
      return { value: firstPod, unit: 's', up, installed, ...matrix, tearDown: secondsSince(end) }
    } finally {
      await removeLab(id)
    }
  },
}

/** Six pods reach each other by ping and TCP, over both families. */
async function measureMatrix(cluster: Cluster): Promise<{ readonly matrix: number; readonly asked: number }> {
  await installDns(cluster)
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
  await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
  await untilPodsReady(cluster.api, 'stock', 'app=db', 3)
  const pods = [
    { namespace: 'shop', pods: 'app=web' },
    { namespace: 'stock', pods: 'app=db' },
  ]
  const since = performance.now()
  const { rows } = await runMatrix(cluster, [{ from: pods, to: pods, by: ['ping', 'tcp'] }])
  const matrix = secondsSince(since)
  const differing = rows.filter(({ verdict }) => verdict === 'differs').length
  if (differing > 0)
    throw new Error(`${differing} of ${rows.length} questions had another answer than expected`)
  return { matrix, asked: rows.length }
}

function secondsSince(since: number): number {
  return rounded((performance.now() - since) / 1000)
}
