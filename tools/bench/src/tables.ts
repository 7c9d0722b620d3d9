import { selectionTable, groupTable, rowTable, sourceTable, Tables, watchedTable } from '@kube-ovn/tables'
import type { AnyTable, Source } from '@kube-ovn/tables'
import { IndexedStore } from '@kube-ovn/kube'
import type { KubeObject } from '@kube-ovn/kube'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { heapBytes } from './heap.ts'
import { percentile, rounded } from './statistics.ts'

const podCount = 50_000
const subnetCount = 500
const vpcCount = 50
const namespaceCount = 250
const nodeCount = 200
const selectorCount = 2000
const eventCount = 2000
const rounds = 3

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName: string }
}

interface Subnet extends KubeObject {
  readonly spec: { readonly vpc: string; readonly cidrBlock: string; readonly namespaces: readonly string[] }
}

interface Policy extends KubeObject {
  readonly spec: { readonly app: string; readonly tier: string }
}

const namespaces = sourceTable<KubeObject>({ name: 'namespaces' })
const pods = sourceTable<Pod>({ name: 'pods' })
const policies = sourceTable<Policy>({ name: 'policies' })
const subnets = sourceTable({
  name: 'subnets',
  indexes: {
    vpc: ({ spec }: Subnet) => [spec.vpc],
    namespace: ({ spec }: Subnet) => spec.namespaces,
  },
})

/** Of the subnets of a VPC those are in effect that no older one contradicts. */
const networks = groupTable({
  name: 'networks',
  of: subnets,
  by: 'vpc',
  rows: (members) => {
    const taken = new Set<string>()
    return [...members].flatMap(([key, { spec }]): [string, { vpc: string; cidrBlock: string }][] => {
      if (taken.has(spec.cidrBlock)) return []
      taken.add(spec.cidrBlock)
      return [[key, { vpc: spec.vpc, cidrBlock: spec.cidrBlock }]]
    })
  },
})

const bindings = rowTable({
  name: 'bindings',
  of: namespaces,
  reads: { subnets },
  row: (_namespace, { subnets }, key) => ({ subnets: subnets.keys('namespace', key) }),
})

const places = rowTable({
  name: 'places',
  of: pods,
  reads: { bindings, networks },
  row: ({ metadata, spec }, { bindings, networks }) => {
    const [subnet] = bindings.get(metadata.namespace ?? '')?.subnets ?? []
    if (subnet === undefined || networks.get(subnet) === undefined) return undefined
    return { subnet, node: spec.nodeName }
  },
  indexes: { at: ({ subnet, node }: { subnet: string; node: string }) => [`${subnet}/${node}`] },
})

const selected = selectionTable({
  name: 'selected',
  objects: pods,
  object: ({ metadata }) => ({ scope: metadata.namespace, labels: metadata.labels ?? {} }),
  selectors: policies,
  selector: ({ metadata, spec }) => ({ scope: metadata.namespace, selector: { matchLabels: { ...spec } } }),
})

const portGroups = rowTable({
  name: 'port-groups',
  of: pods,
  reads: { places, selected },
  row: (_pod, { places, selected }, key) => {
    const place = places.get(key)
    return place === undefined ? undefined : [`${place.subnet}/${place.node}`, ...(selected.get(key) ?? [])]
  },
})

/** Tables of what a network derives for each pod, in memory alone. */
export const tables: Benchmark = {
  name: 'tables',
  summary: 'milliseconds from the event of a pod to the keys that it concerns, among 50,000 pods',
  async run(): Promise<BenchmarkResult> {
    const fillMs: number[] = []
    const eventMs: number[] = []
    // First, while nothing of another round is left.
    const bytesPerPod = (await bytesInUse()) / podCount
    for (let round = 0; round < rounds; round++) {
      const sources = new Sources()
      const startedMs = performance.now()
      const followed = follow(sources)
      fillMs.push(performance.now() - startedMs)
      eventMs.push(...eventsOf(sources, followed))
    }
    console.log('filled in ms', fillMs.map(Math.round))
    return {
      value: rounded(percentile(eventMs, 0.5)),
      unit: 'ms',
      p99: rounded(percentile(eventMs, 0.99)),
      fillMs: rounded(percentile(fillMs, 0.5)),
      bytesPerPod: rounded(bytesPerPod),
    }
  },
}

/** What derived tables take beside their sources. */
async function bytesInUse(): Promise<number> {
  const sources = new Sources()
  const before = await heapBytes()
  const { tables } = follow(sources)
  const after = await heapBytes()
  if (!tables.isSettled) throw new Error('tables are not settled')
  return after - before
}

interface Followed {
  readonly tables: Tables
  readonly concerned: Set<string>
}

function follow(sources: Sources): Followed {
  const concerned = new Set<string>()
  const followed = new Tables({
    tables: [portGroups],
    monotonic: () => performance.now(),
    onDefect: (table, key, error) => {
      throw new Error(`${table} of ${key} could not be derived`, { cause: error })
    },
  })
  sources.attachTo(followed)
  followed.watch({
    of: [watchedTable(pods)],
    onConcerned: (causes) => {
      for (const key of causes.keys()) concerned.add(key)
    },
  })
  followed.start()
  followed.settle()
  const rows = followed.view(portGroups).scan()
  if (rows.length !== podCount || concerned.size !== podCount)
    throw new Error('tables are not what they should be')
  concerned.clear()
  return { tables: followed, concerned }
}

/** A pod gets other labels, and so is in other groups, as often as not. */
function eventsOf(sources: Sources, { tables, concerned }: Followed): readonly number[] {
  return Array.from({ length: eventCount }, (_, count) => {
    const index = (count * 7919) % podCount
    const startedMs = performance.now()
    sources.putPod(tables, index, `app-${count % 40}`)
    tables.settle()
    const elapsedMs = performance.now() - startedMs
    if (concerned.size > 1) throw new Error('one pod concerned more than itself')
    concerned.clear()
    return elapsedMs
  })
}

class Sources {
  readonly #stores = {
    pods: new IndexedStore<Pod>(),
    namespaces: new IndexedStore<KubeObject>(),
    policies: new IndexedStore<Policy>(),
    subnets: new IndexedStore<Subnet>(subnets.indexes),
  }

  constructor() {
    for (let index = 0; index < namespaceCount; index++)
      this.#stores.namespaces.put(`ns-${index}`, { metadata: { name: `ns-${index}` } })
    for (let index = 0; index < subnetCount; index++)
      this.#stores.subnets.put(`subnet-${index}`, subnet(index))
    for (let index = 0; index < selectorCount; index++) {
      const policy = policyOf(index)
      this.#stores.policies.put(`${policy.metadata.namespace ?? ''}/${policy.metadata.name}`, policy)
    }
    for (let index = 0; index < podCount; index++) {
      const pod = podOf(index, `app-${index % 40}`)
      this.#stores.pods.put(keyOf(pod), pod)
    }
  }

  attachTo(tables: Tables): void {
    const pairs: readonly (readonly [AnyTable, Source<unknown>])[] = [
      [pods, sourceOf(this.#stores.pods)],
      [namespaces, sourceOf(this.#stores.namespaces)],
      [policies, sourceOf(this.#stores.policies)],
      [subnets, sourceOf(this.#stores.subnets)],
    ]
    for (const [table, source] of pairs) tables.attach(table, source as Source<never>)
  }

  putPod(tables: Tables, index: number, app: string): void {
    const pod = podOf(index, app)
    const key = keyOf(pod)
    const old = this.#stores.pods.get(key)
    this.#stores.pods.put(key, pod)
    tables.changed(pods, key, old, pod)
  }
}

function sourceOf<T extends KubeObject>(store: IndexedStore<T>): Source<T> {
  return {
    get: (key) => store.get(key),
    keysOf: (index, value) => store.find(index, value).map(keyOf),
    keys: () => [...store.entries()].map(([key]) => key),
  }
}

function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function podOf(index: number, app: string): Pod {
  const namespace = `ns-${index % namespaceCount}`
  const labels = {
    app,
    tier: `tier-${index % 3}`,
    'pod-template-hash': `${index % 5000}`,
    name: `pod-${index}`,
  }
  return {
    metadata: { namespace, name: `pod-${index}`, labels, resourceVersion: `${index}` },
    spec: { nodeName: `node-${index % nodeCount}` },
  }
}

function subnet(index: number): Subnet {
  return {
    metadata: { name: `subnet-${index}` },
    spec: {
      vpc: `vpc-${index % vpcCount}`,
      cidrBlock: `10.${index >> 4}.${(index & 15) << 4}.0/20`,
      namespaces: index < namespaceCount ? [`ns-${index}`] : [],
    },
  }
}

function policyOf(index: number): Policy {
  return {
    metadata: { namespace: `ns-${index % namespaceCount}`, name: `policy-${index}` },
    spec: { app: `app-${index % 40}`, tier: `tier-${index % 3}` },
  }
}
