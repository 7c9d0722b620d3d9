import { Informer } from '@kube-ovn/kube'
import { subnetResource, vpcResource, type Vpc } from '@kube-ovn/kube-api'
import { namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { benchNode, ControlPlane, createAll } from './control-plane.ts'
import type { ControllerProcess } from './controller-process.ts'
import { northdSeconds, tellNorthd, untilSynced } from './northd.ts'
import { numbers } from './numbers.ts'
import { openReader } from './reader.ts'
import { percentile, rounded } from './statistics.ts'
import { until } from './until.ts'
import {
  benchPolicyRoute,
  busyTenant,
  crowded,
  crowdedRules,
  occupiedPairs,
  podOnNode,
  policyRoutesOfAll,
  subnets,
  tenantNamespaces,
  tenantPods,
  tenants,
  type VpcWorldSize,
} from './vpc-world.ts'

const full: VpcWorldSize = { vpcs: 100, subnets: 500, nodes: 200, pods: 10_000, policyRoutes: 2_000 }

/**
 * Rows by which a subnet leaves by a node are for pairs with pods alone: the others would be the most of all rows. And ovn-northd, which has no
 * machine of its own here, leaves some of it to others.
 */
const flags = ['--gateway-rows-by-pods=true', '--northd-backoff-interval-ms=400']

const edits = 20
const furtherNodes = 10
/** Subnets of the default VPC that get a pod on each node that comes. */
const subnetsOnNode = 3

const fullStateMs = 15 * 60_000
const changeMs = 60_000

/** What many VPCs cost: all of them at once, a restart, and then a node, a policy route and a rule. */
export const vpcScale: Benchmark = {
  name: 'vpc-scale',
  summary: `seconds until ${full.vpcs} VPCs with ${full.subnets} subnets and ${full.pods} pods on ${full.nodes} nodes are in the Northbound, from empty`,
  isScalable: true,
  async run(scale): Promise<BenchmarkResult> {
    const size = sizeOf(scale)
    await using plane = await ControlPlane.start(size.nodes, { northd: true })
    console.log('creating', size)
    await createAll(plane.api, namespaces, tenantNamespaces(size))
    await createAll(plane.api, vpcResource, tenants(size))
    await createAll(plane.api, subnetResource, subnets(size))
    await createAll(plane.api, pods, tenantPods(size))
    const { seconds, ...whole } = await fromEmpty(plane, size)
    const restarted = await restart(plane)
    const changes = await costsOfChanges(plane, size)
    const others = Object.entries({ ...whole, ...restarted, ...changes })
    return {
      value: rounded(seconds),
      unit: 's',
      ...Object.fromEntries(others.map(([name, figure]) => [name, rounded(figure)])),
    }
  },
}

/** With less than this there were no tenants. */
const leastScale = 0.05

function sizeOf(scale: number): VpcWorldSize {
  const of = (count: number): number => Math.round(count * Math.max(scale, leastScale))
  const { vpcs, subnets: ofAll, nodes: hosts, pods: all, policyRoutes } = full
  return {
    vpcs: of(vpcs),
    subnets: of(ofAll),
    nodes: of(hosts),
    pods: of(all),
    policyRoutes: of(policyRoutes),
  }
}

type Figures = Readonly<Record<string, number>>

/** What it costs to write all of it. */
async function fromEmpty(
  plane: ControlPlane,
  size: VpcWorldSize,
): Promise<Figures & { readonly seconds: number }> {
  await using seen = await openReader(plane, {
    Logical_Router: { columns: ['name'] },
    Logical_Router_Policy: { columns: ['priority'] },
    Logical_Switch: { columns: ['name'] },
    Logical_Switch_Port: { columns: ['type'], indexes: ['type'] },
    Port_Group: { columns: ['name'] },
  })
  const pairs = occupiedPairs(size)
  const before = { transactions: await plane.northbound.transactions(), northd: northdSeconds(plane) }
  const startedMs = performance.now()
  const sinceStart = (): number => (performance.now() - startedMs) / 1000
  await using controller = plane.startController({ flags })
  const wanted = {
    routers: size.vpcs,
    // With that of nodes, and the default one.
    switches: size.subnets + 2,
    // Of pods and of nodes: all others are ports to routers.
    ports: size.pods + size.nodes,
    // Each node has one of its own.
    groups: pairs + size.nodes,
    policies: policyRoutesOfAll(size) + 2 * pairs,
  }
  const isThere = (): boolean =>
    seen.cache.find('Logical_Switch_Port', 'type', '').length >= wanted.ports &&
    seen.cache.count('Port_Group') >= wanted.groups &&
    seen.cache.count('Logical_Router_Policy') >= wanted.policies &&
    seen.cache.count('Logical_Router') >= wanted.routers &&
    seen.cache.count('Logical_Switch') >= wanted.switches
  await until(seen, fullStateMs, `there are ${JSON.stringify(wanted)}`, isThere)
  const seconds = sinceStart()
  await untilSynced(plane)
  const syncedSeconds = sinceStart()
  await controller.untilQuiet()
  const figures = {
    ...{ seconds, syncedSeconds, controllerCpuSeconds: controller.cpuSeconds },
    northdCpuSeconds: northdSeconds(plane) - before.northd,
    fullTransactions: (await plane.northbound.transactions()) - before.transactions,
    fullWrites: (await plane.writes()).length,
    peakMib: controller.rssMib.peak,
    pairs,
  }
  console.log('all of it', figures)
  return figures
}

/** What a controller costs that finds everything as it wants it. */
async function restart(plane: ControlPlane): Promise<Figures> {
  await plane.api.forgetWrites()
  const before = await plane.northbound.transactions()
  const startedMs = performance.now()
  await using controller = plane.startController({ flags })
  const quietSinceMs = await controller.untilQuiet()
  const costs = {
    restartS: (quietSinceMs - startedMs) / 1000,
    restartCpuSeconds: controller.cpuSeconds,
    restartTransactions: (await plane.northbound.transactions()) - before,
    restartWrites: (await plane.writes()).length,
    restartMib: controller.rssMib.now,
  }
  console.log('a restart', costs)
  return costs
}

/** What it costs to change something small of it. */
async function costsOfChanges(plane: ControlPlane, size: VpcWorldSize): Promise<Figures> {
  await using controller = plane.startController({ flags })
  await controller.untilQuiet()
  // It says of new ports that they are down, in transactions of its own.
  await tellNorthd(plane, 'pause')
  const costs = {
    ...(await ruleCosts(plane, controller)),
    ...(await policyCosts(plane, controller, size)),
    ...(await nodeCosts(plane, controller, size)),
  }
  await tellNorthd(plane, 'resume')
  return costs
}

/** One rule edited in the subnet that half of all pods are in. */
async function ruleCosts(plane: ControlPlane, controller: ControllerProcess): Promise<Figures> {
  await using seen = await openReader(plane, { ACL: { columns: ['match'] } })
  const keys: number[] = []
  const transactions = await plane.northbound.transactions()
  const { cpuSeconds } = controller
  for (const edit of numbers(0, edits)) {
    const queued = await controller.queuedKeys()
    const port = 9_000 + edit
    await plane.api.client.patch(subnetResource, { name: crowded }, 'application/merge-patch+json', {
      spec: { acls: crowdedRules(port) },
    })
    const isThere = (): boolean =>
      [...seen.cache.scan('ACL')].some(({ match }) => match.endsWith(`== ${port}`))
    await until(seen, changeMs, `there is a rule for port ${port}`, isThere)
    await controller.untilServed()
    keys.push((await controller.queuedKeys()) - queued)
  }
  const costs = {
    aclKeys: percentile(keys, 0.5),
    aclTransactions: ((await plane.northbound.transactions()) - transactions) / edits,
    aclCpuMs: ((controller.cpuSeconds - cpuSeconds) * 1000) / edits,
  }
  console.log('one rule', costs, 'keys', keys)
  return costs
}

/** One policy route added to those of the VPC that has the most, from when a watch tells of it. */
async function policyCosts(
  plane: ControlPlane,
  controller: ControllerProcess,
  size: VpcWorldSize,
): Promise<Figures> {
  await using seen = await openReader(plane, { Logical_Router_Policy: { columns: ['match'] } })
  await using watch = await watchVpcs(plane)
  const times: number[] = []
  const keys: number[] = []
  const before = (await plane.northbound.server.transactionLog()).length
  const { cpuSeconds } = controller
  for (const edit of numbers(size.policyRoutes, size.policyRoutes + edits)) {
    const route = benchPolicyRoute(edit)
    const queued = await controller.queuedKeys()
    const told = watch.next()
    const isThere = (): boolean =>
      [...seen.cache.scan('Logical_Router_Policy')].some(({ match }) => match === route.match)
    const written = until(seen, changeMs, `there is a policy ${route.match}`, isThere).then(() =>
      performance.now(),
    )
    const add = [{ op: 'add', path: '/spec/policyRoutes/-', value: route }]
    await plane.api.client.patch(vpcResource, { name: busyTenant }, 'application/json-patch+json', add)
    times.push((await written) - (await told))
    await controller.untilServed()
    keys.push((await controller.queuedKeys()) - queued)
  }
  const log = (await plane.northbound.server.transactionLog()).slice(before)
  const rows = log.flatMap(({ tables }) =>
    Object.values(tables).map((changed) => Object.keys(changed).length),
  )
  const costs = {
    policyMs: percentile(times, 0.5),
    policyTransactions: log.length / edits,
    // The new one, and its router.
    policyRows: rows.reduce((sum, count) => sum + count, 0) / edits,
    policyKeys: percentile(keys, 0.5),
    policyCpuMs: ((controller.cpuSeconds - cpuSeconds) * 1000) / edits,
  }
  console.log('one policy route', costs, 'ms', times.map(Math.round))
  return costs
}

/** Tells when it hears of the next change of a VPC that its specification knows. */
async function watchVpcs({ api }: ControlPlane): Promise<AsyncDisposable & { next(): Promise<number> }> {
  const waiting: (() => void)[] = []
  const informer = new Informer<Vpc>({
    ...{ client: api.client, clock: systemClock, logger: silentLogger },
    resource: vpcResource,
  })
  informer.onChange(({ old, new: now }) => {
    if (old?.metadata.generation !== now?.metadata.generation) for (const wake of waiting.splice(0)) wake()
  })
  informer.start()
  await informer.synced
  return {
    next: () => new Promise((resolve) => waiting.push(() => resolve(performance.now()))),
    [Symbol.asyncDispose]: () => informer[Symbol.asyncDispose](),
  }
}

/** A node that comes, and then pods of a few subnets on it. */
async function nodeCosts(
  plane: ControlPlane,
  controller: ControllerProcess,
  size: VpcWorldSize,
): Promise<Figures> {
  const marks = { columns: ['external_ids'] } as const
  await using seen = await openReader(plane, {
    Logical_Switch_Port: { columns: ['name'], indexes: ['name'] },
    Logical_Router_Policy: marks,
    Logical_Router_Static_Route: marks,
    Port_Group: marks,
  })
  const rows = (): number =>
    (['Logical_Router_Policy', 'Logical_Router_Static_Route', 'Port_Group'] as const).reduce(
      (sum, table) => sum + seen.cache.count(table),
      0,
    )
  const times: number[] = []
  const keys: number[] = []
  const { cpuSeconds } = controller
  const empty = rows()
  for (const index of numbers(size.nodes, size.nodes + furtherNodes)) {
    const one = benchNode(index)
    const port = `node-${one.metadata.name}`
    const queued = await controller.queuedKeys()
    const before = rows()
    const startedMs = performance.now()
    await plane.api.client.create(nodes, one)
    const isThere = (): boolean =>
      seen.cache.find('Logical_Switch_Port', 'name', port).length > 0 && rows() >= before + rowsOfNode
    await until(seen, changeMs, `rows of ${port} are there`, isThere)
    times.push(performance.now() - startedMs)
    await controller.untilServed()
    keys.push((await controller.queuedKeys()) - queued)
  }
  const nodeRows = (rows() - empty) / furtherNodes
  const alone = rows()
  const nodeCpuMs = ((controller.cpuSeconds - cpuSeconds) * 1000) / furtherNodes
  await createAll(
    plane.api,
    pods,
    numbers(0, furtherNodes).flatMap((node) =>
      numbers(0, subnetsOnNode).map((place) =>
        podOnNode(size.pods + node * subnetsOnNode + place, 1 + place, `node-${size.nodes + node}`),
      ),
    ),
  )
  const pairs = furtherNodes * subnetsOnNode
  await until(seen, changeMs, `${pairs} pairs have rows`, () => rows() >= alone + pairs * rowsOfPair)
  await controller.untilServed()
  const costs = {
    nodeMs: percentile(times, 0.5),
    nodeRows,
    pairRows: (rows() - alone) / pairs,
    nodeKeys: percentile(keys, 0.5),
    nodeCpuMs,
  }
  console.log('one node', costs, 'ms', times.map(Math.round), 'keys', keys)
  return costs
}

/** The group of its pods, and a policy for its address. */
const rowsOfNode = 2

/** The group of its pods, and a policy for each family. */
const rowsOfPair = 3
