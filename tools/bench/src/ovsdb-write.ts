import { controlFeatures, northboundTables } from '@kube-ovn/assembly-controller'
import { namespaces, nodes, pods } from '@kube-ovn/kube'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { nothing, type Database, type Desired } from '@kube-ovn/reconcile'
import { namespace, node, pod } from '@kube-ovn/testing-builders'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient, type Operation, type OperationResult } from 'ovsdb-client'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { MemoryCluster } from './memory-cluster.ts'
import { rounded } from './statistics.ts'

const nodeCount = 100
const podCount = 10_000
const switchSize = 50_000
const rounds = 3

/** Rows of pods, committed by the kernel and by a writer that has nothing to find out. */
export const ovsdbWrite: Benchmark = {
  name: 'ovsdb-write',
  summary: "the kernel's rate of committing pods, in that of a bare writer of the same transactions",
  async run(): Promise<BenchmarkResult> {
    // The first round is of code that is not compiled yet.
    const runs: Comparison[] = []
    for (let round = 0; round < rounds; round++) runs.push(await compare(0))
    const alone = middle(runs)
    const crowded = await compare(switchSize - podCount)
    return {
      value: rounded(alone.bareSeconds / alone.kernelSeconds),
      unit: 'ratio',
      at50000: rounded(crowded.bareSeconds / crowded.kernelSeconds),
      withFeatures: rounded(alone.bareSeconds / alone.featureSeconds),
      withFeaturesAt50000: rounded(crowded.bareSeconds / crowded.featureSeconds),
      podsPerSecond: rounded(podCount / alone.kernelSeconds),
      podsPerSecondAt50000: rounded(podCount / crowded.kernelSeconds),
      transactions: alone.transactions,
    }
  },
}

interface Comparison {
  /** Of the whole controller: addresses are chosen, annotations and records of addresses are made. */
  readonly featureSeconds: number
  /** Of the kernel alone, which is told the rows of each pod. */
  readonly kernelSeconds: number
  /** Of a writer that is told the transactions. */
  readonly bareSeconds: number
  readonly transactions: number
}

function middle(runs: readonly Comparison[]): Comparison {
  const sorted = runs.toSorted((a, b) => a.kernelSeconds / a.bareSeconds - b.kernelSeconds / b.bareSeconds)
  const found = sorted[Math.floor(sorted.length / 2)]
  if (found === undefined) throw new TypeError('nothing was run')
  return found
}

/** Has the controller commit pods; then the kernel, the rows; then a bare writer, the transactions; each to an empty database. */
async function compare(podsBefore: number): Promise<Comparison> {
  const rows = new Map<string, Desired>()
  const featureSeconds = await withNorthbound((client) =>
    commitPods(client, podsBefore, noting(rows), () => undefined),
  )
  const before: Sent[] = []
  const measured: Sent[] = []
  const kernelSeconds = await withNorthbound(async (client) => {
    const record = { to: before }
    return await commitPods(
      recording(client, record),
      podsBefore,
      readyMade(rows),
      () => (record.to = measured),
    )
  })
  const bareSeconds = await withNorthbound(async (client) => {
    await replay(client, before.map(withIds))
    const transactions = measured.map(withIds)
    return await seconds(() => replay(client, transactions))
  })
  const result = { featureSeconds, kernelSeconds, bareSeconds, transactions: measured.length }
  console.log(`${podCount} pods beside ${podsBefore}`, result)
  return result
}

type AnyFeature = (typeof controlFeatures)[number]

/** The controller's features; of the one for pods it is noted which rows each pod needs. */
function noting(rows: Map<string, Desired>): readonly AnyFeature[] {
  return controlFeatures.map((feature) =>
    feature.name !== 'pod-port'
      ? feature
      : {
          ...feature,
          desired(key: string, snapshot: unknown) {
            const desired = feature.desired(key, snapshot)
            if (desired.rows.length > 0)
              rows.set(key, { ...nothing, rows: desired.rows, members: desired.members })
            return desired
          },
        },
  )
}

/** The controller's features; the one for pods knows without looking which rows each pod needs. */
function readyMade(rows: ReadonlyMap<string, Desired>): readonly AnyFeature[] {
  return controlFeatures.map((feature) =>
    feature.name !== 'pod-port'
      ? feature
      : {
          ...feature,
          observe: (key: string) => rows.get(key),
          desired: (key: string) => rows.get(key) ?? nothing,
        },
  )
}

async function commitPods(
  database: Northbound,
  podsBefore: number,
  features: readonly AnyFeature[],
  onMeasured: () => void,
): Promise<number> {
  await using cluster = new MemoryCluster(database, features)
  await cluster.start()
  cluster.put(namespaces, namespace())
  for (let index = 0; index < nodeCount; index++) {
    cluster.put(nodes, node({ name: `node-${index}`, addresses: [`172.18.0.${index + 2}`] }))
  }
  await cluster.kernel.quiet()
  await putPods(cluster, 0, podsBefore)
  onMeasured()
  return await seconds(() => putPods(cluster, podsBefore, podCount))
}

type Northbound = Database & { readonly cache: OvsdbClient<OvnNorthbound>['cache'] }

type Transaction = readonly Operation[]

/** A transaction and its answer. */
interface Sent {
  readonly operations: Transaction
  readonly results: readonly OperationResult[]
}

async function withNorthbound<T>(act: (client: OvsdbClient<OvnNorthbound>) => Promise<T>): Promise<T> {
  await using northbound = await startNorthbound()
  await using client = new OvsdbClient<OvnNorthbound>({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables: northboundTables(),
    inactivityProbeMs: 0,
  })
  await client.connect()
  return await act(client)
}

async function putPods(cluster: MemoryCluster, first: number, count: number): Promise<void> {
  for (let index = first; index < first + count; index++) {
    cluster.put(pods, pod({ name: `pod-${index}`, node: `node-${index % nodeCount}` }))
  }
  await cluster.kernel.quiet()
}

/** Notes what is sent, with the ids that the server gave to new rows, so that it can be sent again to another server. */
function recording(client: OvsdbClient<OvnNorthbound>, record: { readonly to: Sent[] }): Northbound {
  return {
    cache: client.cache,
    get state() {
      return client.state
    },
    onState: (listener) => client.onState(listener),
    onChange: (listener) => client.onChange(listener),
    async transact(operations) {
      const results = await client.transact(operations)
      record.to.push({ operations, results })
      return results
    },
  }
}

/** The same operations with the ids that new rows were given, in place of names. */
function withIds({ operations, results }: Sent): Transaction {
  const ids = new Map<unknown, string>()
  operations.forEach((operation, index) => {
    const { uuid } = results[index] ?? {}
    if (operation.op === 'insert' && uuid !== undefined) ids.set(operation['uuid-name'], uuid)
  })
  function reviver(_key: string, value: unknown): unknown {
    if (!Array.isArray(value) || value[0] !== 'named-uuid') return value
    return ['uuid', ids.get(value[1])]
  }
  return operations.map((operation) => {
    const { 'uuid-name': name, ...rest } = JSON.parse(JSON.stringify(operation), reviver) as Operation
    return operation.op === 'insert' ? { ...rest, uuid: ids.get(name) } : rest
  })
}

async function replay(
  client: OvsdbClient<OvnNorthbound>,
  transactions: readonly Transaction[],
): Promise<void> {
  for (const operations of transactions) await client.transact(operations)
}

async function seconds(act: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await act()
  return (performance.now() - startedMs) / 1000
}
