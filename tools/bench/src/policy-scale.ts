import { namespaces, pods } from '@kube-ovn/kube'
import { networkPolicies } from '@kube-ovn/kube-api/core'
import { aclPriority } from '@kube-ovn/ovn-names'
import { countAclFlows } from '@kube-ovn/testing-ovsdb'
import type { RowChange } from 'ovsdb-client'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane, createAll } from './control-plane.ts'
import type { ControllerProcess } from './controller-process.ts'
import { emptyNorthbound, northdSeconds, tellNorthd, untilSynced } from './northd.ts'
import { numbers } from './numbers.ts'
import {
  benchNamespace,
  benchPod,
  benchPolicy,
  markedLabel,
  namespaceName,
  portsOn,
  selectedAddresses,
  termsOn,
} from './policy-world.ts'
import { openReader, type Reader } from './reader.ts'
import { percentile, rounded } from './statistics.ts'
import { until } from './until.ts'

const size = { namespaces: 200, pods: 10_000, policies: 1_000, nodes: 20 } as const

/** Pods that come, each seen in the Northbound before the next one. As many before them are for machine code to be made. */
const podEvents = 200

/** The node whose OpenFlow rules are counted. */
const crowded = 0

const edits = 20
const relabels = 10

const fullStateMs = 15 * 60_000
const changeMs = 60_000

/** What many NetworkPolicies cost: all of them at once, a pod that comes, a policy and a namespace that change, and a restart. */
export const policyScale: Benchmark = {
  name: 'policy-scale',
  summary: `seconds until ovn-northd has ${size.policies} NetworkPolicies of ${size.pods} pods in ${size.namespaces} namespaces, from empty`,
  async run(): Promise<BenchmarkResult> {
    await using plane = await ControlPlane.start(size.nodes, { northd: true })
    console.log(`creating ${size.policies} NetworkPolicies and ${size.pods} pods`)
    await createAll(plane.api, namespaces, numbers(0, size.namespaces).map(benchNamespace))
    const policies = numbers(0, size.policies).map((index) => benchPolicy(index, size))
    await createAll(plane.api, networkPolicies, policies)
    const all = numbers(0, size.pods).map((index) => benchPod(index, size))
    await createAll(plane.api, pods, all)
    await emptyNorthbound(plane)
    const { seconds, ...costs } = await costsOf(plane)
    const others = Object.entries(costs).map(([name, figure]) => [name, rounded(figure)] as const)
    const restartTransactions = await restart(plane)
    return { value: rounded(seconds), unit: 's', ...Object.fromEntries(others), restartTransactions }
  },
}

type Costs = Readonly<Record<string, number>> & { readonly seconds: number }

/** What a controller costs that meets an empty Northbound, and then lives on. */
async function costsOf(plane: ControlPlane): Promise<Costs> {
  await using seen = await openReader(plane, {
    Address_Set: { columns: ['addresses', 'external_ids'] },
    Logical_Switch_Port: { columns: ['name'], indexes: ['name'] },
  })
  const before = { transactions: await plane.northbound.transactions(), northd: northdSeconds(plane) }
  const startedMs = performance.now()
  await using controller = plane.startController()
  await untilSelected(seen, selectedAddresses(size), fullStateMs)
  const writtenSeconds = (performance.now() - startedMs) / 1000
  await untilSynced(plane)
  const seconds = (performance.now() - startedMs) / 1000
  await controller.untilQuiet()
  const full = {
    ...{ seconds, writtenSeconds, controllerCpuSeconds: controller.cpuSeconds },
    northdCpuSeconds: northdSeconds(plane) - before.northd,
    fullTransactions: (await plane.northbound.transactions()) - before.transactions,
  }
  console.log('all of it', full)
  return {
    ...full,
    ...(await flowCosts(plane)),
    ...(await podCosts(plane, seen, controller)),
    plainCpuMs: await plainPodCpuMs(plane, controller),
    foreignRows: await foreignRows(plane),
    relabelMs: await relabelMs(plane, seen),
    peakMib: controller.rssMib.peak,
  }
}

/** Rules of what policies let through, for each term, and all rules of ACLs that a node has for a pod of its own. */
async function flowCosts(
  plane: ControlPlane,
): Promise<Readonly<Record<'flowsPerTerm' | 'aclFlowsPerPod', number>>> {
  const ports = portsOn(crowded, size)
  const rules = await countAclFlows(plane.northbound, `node-${crowded}`, ports)
  const ofPolicies = rules.ofPriority(aclPriority.policyAllow)
  return { flowsPerTerm: ofPolicies / termsOn(crowded, size), aclFlowsPerPod: rules.all / ports.length }
}

interface PodCosts {
  readonly transactions: number
  /** Of the controller. */
  readonly cpuMs: number
}

/** What a pod costs that policies are for and about: the mean of many of them. */
async function podCosts(plane: ControlPlane, seen: Reader, controller: ControllerProcess): Promise<PodCosts> {
  // It says of each new port that it is down, in transactions of its own.
  await tellNorthd(plane, 'pause')
  await createPods(plane, seen, size.pods, podEvents)
  await controller.untilQuiet()
  const transactions = await plane.northbound.transactions()
  const { cpuSeconds } = controller
  await createPods(plane, seen, size.pods + podEvents, podEvents)
  const costs = {
    transactions: ((await plane.northbound.transactions()) - transactions) / podEvents,
    cpuMs: ((controller.cpuSeconds - cpuSeconds) * 1000) / podEvents,
  }
  await tellNorthd(plane, 'resume')
  console.log('one pod', costs)
  return costs
}

async function createPods(plane: ControlPlane, seen: Reader, first: number, count: number): Promise<void> {
  for (const index of numbers(first, first + count)) {
    const { metadata } = await plane.api.client.create(pods, benchPod(index, size))
    const port = `${metadata.name}.${metadata.namespace ?? ''}`
    const isThere = (): boolean => seen.cache.find('Logical_Switch_Port', 'name', port).length > 0
    await until(seen, changeMs, `${port} is there`, isThere)
  }
}

/** The processor time of a pod that no policy is for or about, to compare with. */
async function plainPodCpuMs(plane: ControlPlane, controller: ControllerProcess): Promise<number> {
  await controller.untilQuiet()
  const { cpuSeconds } = controller
  for (let count = 0; count < podEvents; count++) {
    await plane.createPods(1)
    await plane.untilAllocated()
  }
  return ((controller.cpuSeconds - cpuSeconds) * 1000) / podEvents
}

const rowsOfPolicies = { columns: ['external_ids', 'name'] }

/** How many rows of anybody else change when policies are edited. */
async function foreignRows(plane: ControlPlane): Promise<number> {
  await using client = await openReader(plane, {
    ACL: { columns: [...rowsOfPolicies.columns, 'match'] },
    Port_Group: { columns: [...rowsOfPolicies.columns, 'ports', 'acls'] },
    Address_Set: { columns: [...rowsOfPolicies.columns, 'addresses'] },
    Logical_Switch_Port: { columns: [...rowsOfPolicies.columns, 'addresses'] },
  })
  let foreign = 0
  for (const index of numbers(0, edits)) {
    const { metadata, spec } = benchPolicy(index, size)
    const name = { namespace: metadata.namespace ?? '', name: metadata.name }
    const owner = `network-policy/${name.namespace}/${name.name}`
    const owners: string[] = []
    using _noted = client.onChange((changes) => void owners.push(...changes.flatMap(ownerOf)))
    const [first, ...others] = spec?.ingress ?? []
    const ingress = [{ ...first, ports: [{ protocol: 'TCP', port: 8081 }] }, ...others]
    await plane.api.client.patch(networkPolicies, name, 'application/merge-patch+json', { spec: { ingress } })
    await until(client, changeMs, `rows of ${owner} are others`, () => owners.includes(owner))
    foreign += owners.filter((one) => one !== owner).length
  }
  return foreign
}

/** Whose row has changed; nobody's of ours without a mark. */
function ownerOf({ old, new: current }: RowChange): readonly string[] {
  const row = current ?? old
  const ids: unknown = row !== undefined && 'external_ids' in row ? row.external_ids : undefined
  const owner = typeof ids === 'object' && ids !== null && 'owner' in ids ? ids.owner : undefined
  return typeof owner === 'string' ? [owner] : []
}

/** Milliseconds until all pods of a namespace are in the sets of a policy of each namespace, which selects it by a label, or in none. */
async function relabelMs(plane: ControlPlane, seen: Reader): Promise<number> {
  const before = addressesIn(seen)
  const more = (2 * size.namespaces * (size.pods + 2 * podEvents)) / size.namespaces
  const times: number[] = []
  for (const round of numbers(0, relabels)) {
    const isMarked = round % 2 === 0
    const labels = { [markedLabel]: isMarked ? 'all' : null }
    const startedMs = performance.now()
    const name = { name: namespaceName(7) }
    await plane.api.client.patch(namespaces, name, 'application/merge-patch+json', { metadata: { labels } })
    await untilSelected(seen, before + (isMarked ? more : 0), changeMs)
    times.push(performance.now() - startedMs)
  }
  console.log('a namespace that gets a label, or loses it, in ms', times.map(Math.round))
  return percentile(times, 0.5)
}

/** Transactions of a controller that finds everything as it wants it. */
async function restart(plane: ControlPlane): Promise<number> {
  const before = await plane.northbound.transactions()
  await using controller = plane.startController()
  await controller.untilQuiet()
  return (await plane.northbound.transactions()) - before
}

/** How many addresses are in the sets of NetworkPolicies. */
function addressesIn({ cache }: Reader): number {
  return [...cache.scan('Address_Set')].reduce(
    (sum, { addresses, external_ids: ids }) =>
      ids['owner']?.startsWith('network-policy/') === true ? sum + addresses.length : sum,
    0,
  )
}

async function untilSelected(seen: Reader, count: number, limitMs: number): Promise<void> {
  const what = `${count} addresses are in the sets of policies`
  await until(seen, limitMs, what, () => addressesIn(seen) === count)
}
