import { setTimeout as delay } from 'node:timers/promises'
import {
  auditPosition,
  chartNamespace,
  countTransactions,
  isWrite,
  logPosition,
  ovnCentral,
  podProcesses,
  ProcessAccounting,
  readAudit,
  renderObservation,
  startObservation,
  untilPodsReady,
} from '@kube-ovn/lab'
import type { AuditedRequest, Cluster, Place } from '@kube-ovn/lab'
import { benchNamespace, createBenchLab, createPods, deletePods } from './bench-lab.ts'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { rounded } from './statistics.ts'

const burst = 200

/** Writes that follow a change at leisure (a Subnet's counts, events) have been made by then. */
const settleMs = 4000

/** Who the product is to the API server. */
const productUsers = ['ovn', 'kube-ovn-cni'].map(
  (account) => `system:serviceaccount:${chartNamespace}:${account}`,
)

/** What something cost, seen by the database's log, the API server's audit log and process accounting. */
export interface Cost {
  readonly transactions: number
  readonly writes: readonly AuditedRequest[]
  readonly forks: number
}

/** Counts, from outside, what a pod costs. */
export const podCost: Benchmark = {
  name: 'pod-cost',
  summary: 'Northbound transactions, API writes and forks that one plain pod costs, and a burst of 200',
  async run(): Promise<BenchmarkResult> {
    await using cluster = await createBenchLab('bench-pod-cost')
    const { added, deleted, many } = await measurePodCosts(cluster, burst)
    return {
      value: added.transactions,
      unit: 'transactions',
      transactionsPerPod: added.transactions,
      burstTransactionsPerPod: rounded(many.transactions / burst),
      apiWritesPerPod: added.writes.length,
      burstApiWritesPerPod: rounded(many.writes.length / burst),
      forksPerAdd: rounded((added.forks + many.forks) / (burst + 1)),
      forksPerDel: deleted.forks,
    }
  },
}

export interface PodCosts {
  /** Of one pod until it is Ready. */
  readonly added: Cost
  /** Of its deletion. */
  readonly deleted: Cost
  /** Of many pods that are created at once. */
  readonly many: Cost
}

/** Measures on a cluster with the chart and the namespace of the benchmarks, which is empty before and after. */
export async function measurePodCosts(cluster: Cluster, atOnce: number): Promise<PodCosts> {
  const central = await ovnCentral(cluster)
  using accounting = new ProcessAccounting()
  const agents = await agentProcesses(cluster)
  const measure = (act: () => Promise<unknown>): Promise<Cost> =>
    measureCost(cluster, central, accounting, agents, act)

  // The first pod of a node does what is done once.
  await createPods(
    cluster,
    cluster.nodes.map(({ name }) => ({ name: `first-${name}`, nodeName: name })),
  )
  await untilPodsReady(cluster.api, benchNamespace, 'app=bench', cluster.nodes.length)
  await deletePods(cluster)
  await delay(settleMs)

  const added = await measure(async () => {
    await createPods(cluster, [{ name: 'one' }])
    await untilPodsReady(cluster.api, benchNamespace, 'app=bench', 1)
  })
  printCost('one pod added', added)
  const deleted = await measure(() => deletePods(cluster))
  printCost('one pod deleted', deleted)
  const endObservation = await startObservation(cluster, accounting)
  const many = await measure(async () => {
    await createPods(
      cluster,
      Array.from({ length: atOnce }, (_, index) => ({ name: `burst-${index}` })),
    )
    await untilPodsReady(cluster.api, benchNamespace, 'app=bench', atOnce, 600_000)
  })
  printCost(`${atOnce} pods added`, many)
  console.log(renderObservation(await endObservation()))
  await deletePods(cluster)
  return { added, deleted, many }
}

async function measureCost(
  cluster: Cluster,
  central: Place,
  accounting: ProcessAccounting,
  agents: ReadonlySet<number>,
  act: () => Promise<unknown>,
): Promise<Cost> {
  const since = {
    log: await logPosition(central),
    audit: auditPosition(cluster),
    ended: accounting.ended().length,
  }
  await act()
  await delay(settleMs)
  return {
    transactions: await countTransactions(central, since.log),
    writes: readAudit(cluster, since.audit).filter(
      (request) => isWrite(request) && productUsers.includes(request.user),
    ),
    forks: accounting
      .ended()
      .slice(since.ended)
      .filter(({ parentPid }) => agents.has(parentPid)).length,
  }
}

/** Process ids, as the machine sees them, of everything in the agents' pods. */
async function agentProcesses(cluster: Cluster): Promise<ReadonlySet<number>> {
  const pods = await untilPodsReady(cluster.api, chartNamespace, 'app=kube-ovn-cni', cluster.nodes.length)
  return new Set(pods.flatMap((pod) => podProcesses(pod.metadata.uid ?? '')))
}

function printCost(what: string, { transactions, writes, forks }: Cost): void {
  const lines = Map.groupBy(writes, ({ verb, resource, subresource }) =>
    [verb, resource, subresource ?? ''].join(' ').trim(),
  )
  const detail = [...lines].map(([line, requests]) => `${requests.length} × ${line}`).join(', ')
  console.log(
    `${what}: ${transactions} transactions, ${writes.length} API writes (${detail}), ${forks} forks of the agents`,
  )
}
