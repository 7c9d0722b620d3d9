import { statSync } from 'node:fs'
import { join } from 'node:path'
import { subnetResource } from '@kube-ovn/kube-api'
import { endpointSlices, services, type EndpointSlice, type Service } from '@kube-ovn/kube-api/core'
import { endpointSlice, service, subnet } from '@kube-ovn/testing-builders'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane, createAll } from './control-plane.ts'
import type { ControllerProcess } from './controller-process.ts'
import { emptyNorthbound, northdSeconds, tellNorthd, untilSynced } from './northd.ts'
import { numbers } from './numbers.ts'
import { openReader, type Reader } from './reader.ts'
import { rounded } from './statistics.ts'
import { until } from './until.ts'

const nodeCount = 20
const few = 100
const [serviceCount, endpointCount, switchCount] = [5000, 20, 500] as const
const namespace = 'bench'

/** Of one endpoint, each seen in the Northbound before the next one. As many before them are for machine code to be made. */
const changes = 300

const fullStateMs = 15 * 60_000
const changeMs = 60_000

/** What many Services cost: all of them at once, one endpoint that changes, and a restart. */
export const servicesScale: Benchmark = {
  name: 'services-scale',
  summary: `seconds until ovn-northd has ${serviceCount} Services of ${endpointCount} endpoints on ${switchCount} switches, from empty`,
  async run(): Promise<BenchmarkResult> {
    await using plane = await ControlPlane.start(nodeCount, { northd: true })
    const emptyMib = await emptyRss(plane)
    console.log(`creating ${switchCount} Subnets and ${few} Services`)
    await createAll(plane.api, subnetResource, numbers(0, switchCount).map(subnetOf))
    await createServices(plane, 0, few)
    const amongFew = await costsAmong(plane, few, 'shared')
    const amongFewPerService = await costsAmong(plane, few, 'per-service')
    console.log(`creating ${serviceCount - few} more Services`)
    await createServices(plane, few, serviceCount)
    const shared = await costsOf(plane, 'shared', amongFew, emptyMib)
    const perService = await costsOf(plane, 'per-service', amongFewPerService, emptyMib)
    const { value, ...others } = shared
    const ofOwn = Object.entries(perService).map(([name, figure]) => [`perService.${name}`, figure] as const)
    return { value, unit: 's', ...others, ...Object.fromEntries(ofOwn) }
  },
}

type Layout = 'shared' | 'per-service'

/** Changes come at once, since each is seen before the next one. */
function flagsOf(layout: Layout): { readonly flags: readonly string[] } {
  return { flags: [`--load-balancer-layout=${layout}`, '--load-balancer-min-sync-period=0s'] }
}

/** All that is measured of one layout. */
async function costsOf(
  plane: ControlPlane,
  layout: Layout,
  amongFew: ChangeCosts,
  emptyMib: number,
): Promise<Readonly<Record<string, number>> & { readonly value: number }> {
  const full = await fullState(plane, layout)
  const amongMany = await costsAmong(plane, serviceCount, layout)
  let restart = await restartCosts(plane, layout)
  // The server may write its file anew meanwhile, and then has fewer transactions in it; not twice in ten minutes.
  if (restart.transactions < 0) restart = await restartCosts(plane, layout)
  return {
    value: rounded(full.seconds),
    writtenSeconds: rounded(full.writtenSeconds),
    northdAloneSeconds: rounded(full.northdAlone.seconds),
    northdAloneCpuSeconds: rounded(full.northdAlone.cpuSeconds),
    fullTransactions: full.transactions,
    controllerCpuSeconds: rounded(full.controllerCpuSeconds),
    northdCpuSeconds: rounded(full.northdCpuSeconds),
    flows: full.flows,
    transactions: amongMany.transactions,
    bytes: amongMany.bytes,
    cpuMs: rounded(amongMany.cpuMs),
    northdCpuMs: rounded(amongMany.northdCpuMs),
    growth: rounded(amongMany.cpuMs / amongFew.cpuMs),
    restartTransactions: restart.transactions,
    restartWrites: restart.writes,
    mib: rounded(restart.mib - emptyMib),
    peakMib: rounded(restart.peakMib),
  }
}

interface RestartCosts {
  readonly transactions: number
  readonly writes: number
  readonly mib: number
  readonly peakMib: number
}

/** What a controller costs that finds everything as it wants it. */
async function restartCosts(plane: ControlPlane, layout: Layout): Promise<RestartCosts> {
  await plane.api.forgetWrites()
  const before = await plane.northbound.transactions()
  await using restarted = plane.startController(flagsOf(layout))
  await restarted.untilQuiet()
  const { now: mib, peak: peakMib } = restarted.rssMib
  const transactions = (await plane.northbound.transactions()) - before
  return { transactions, writes: (await plane.writes()).length, mib, peakMib }
}

/** Memory of a controller that has next to nothing to do. */
async function emptyRss(plane: ControlPlane): Promise<number> {
  await using controller = plane.startController()
  await controller.untilQuiet()
  return controller.rssMib.now
}

interface FullState {
  /** Until ovn-northd has written what is there for what was written by the controller. */
  readonly seconds: number
  readonly writtenSeconds: number
  /** What ovn-northd takes for the same rows when they are all there, and nobody else does anything: no controller can be faster. */
  readonly northdAlone: { readonly seconds: number; readonly cpuSeconds: number }
  readonly transactions: number
  readonly controllerCpuSeconds: number
  readonly northdCpuSeconds: number
  /** Logical flows. */
  readonly flows: number
}

/** Has a controller write everything into an empty Northbound. */
async function fullState(plane: ControlPlane, layout: Layout): Promise<FullState> {
  await emptyNorthbound(plane)
  const transactionsBefore = await plane.northbound.transactions()
  const northdBefore = northdSeconds(plane)
  console.log(`writing all of it into an empty Northbound, ${layout}`)
  const startedMs = performance.now()
  await using controller = plane.startController(flagsOf(layout))
  await untilServed(plane, serviceCount)
  const writtenSeconds = (performance.now() - startedMs) / 1000
  const transactions = (await plane.northbound.transactions()) - transactionsBefore
  await untilSynced(plane)
  const seconds = (performance.now() - startedMs) / 1000
  await controller.untilQuiet()
  const { cpuSeconds: controllerCpuSeconds } = controller
  await controller[Symbol.asyncDispose]()
  const northdCpuSeconds = northdSeconds(plane) - northdBefore
  const flows = await countFlows(plane)
  const alone = await northdAlone(plane, flows)
  console.log(
    `${rounded(writtenSeconds)} s until it was written, ${rounded(seconds)} s until ovn-northd had it; alone it takes ${rounded(alone.seconds)} s`,
  )
  return {
    ...{ seconds, writtenSeconds, northdAlone: alone, transactions },
    ...{ controllerCpuSeconds, northdCpuSeconds, flows },
  }
}

async function countFlows({ northbound }: ControlPlane): Promise<number> {
  const listed = await northbound.sbctl('--timeout=120', '--bare', '--columns=_uuid', 'list', 'Logical_Flow')
  const count = listed.split('\n').filter((line) => line !== '').length
  if (count === 0) throw new Error('ovn-northd has written no flow')
  return count
}

/** Has ovn-northd work everything out and write it once more, of which nothing is there any more. */
async function northdAlone(plane: ControlPlane, flows: number): Promise<FullState['northdAlone']> {
  const before = northdSeconds(plane)
  const startedMs = performance.now()
  await plane.northbound.sbctl('--timeout=120', '--', '--all', 'destroy', 'Logical_Flow')
  await tellNorthd(plane, 'inc-engine/recompute')
  await untilSynced(plane)
  const seconds = (performance.now() - startedMs) / 1000
  const again = await countFlows(plane)
  if (again !== flows) throw new Error(`ovn-northd has written ${again} flows in the place of ${flows}`)
  return { seconds, cpuSeconds: northdSeconds(plane) - before }
}

interface ChangeCosts {
  /** Of the Northbound, for one endpoint. */
  readonly transactions: number
  /** Of the database's file. */
  readonly bytes: number
  readonly cpuMs: number
  readonly northdCpuMs: number
}

/** What one endpoint costs that changes, among so many Services: the mean of many of them. */
async function costsAmong(plane: ControlPlane, count: number, layout: Layout): Promise<ChangeCosts> {
  await using controller = plane.startController(flagsOf(layout))
  await untilServed(plane, count)
  await controller.untilQuiet()
  await using seen = await openReader(plane, entries)
  await changeEndpoints(plane, seen, changes, 1)
  await controller.untilQuiet()
  await untilSynced(plane)
  const before = await costsSoFar(plane, controller)
  await changeEndpoints(plane, seen, changes, 2)
  const after = await costsSoFar(plane, controller)
  // What ovn-northd has left to do belongs to it.
  await untilSynced(plane)
  const costs = {
    transactions: (after.transactions - before.transactions) / changes,
    bytes: Math.round((after.bytes - before.bytes) / changes),
    cpuMs: ((after.cpuSeconds - before.cpuSeconds) * 1000) / changes,
    northdCpuMs: ((northdSeconds(plane) - before.northdSeconds) * 1000) / changes,
  }
  console.log(`one endpoint among ${count} Services, ${layout}: ${JSON.stringify(costs)}`)
  return costs
}

interface CostsSoFar {
  readonly transactions: number
  readonly bytes: number
  readonly cpuSeconds: number
  readonly northdSeconds: number
}

async function costsSoFar(plane: ControlPlane, controller: ControllerProcess): Promise<CostsSoFar> {
  return {
    transactions: await plane.northbound.transactions(),
    bytes: statSync(databaseFile(plane)).size,
    cpuSeconds: controller.cpuSeconds,
    northdSeconds: northdSeconds(plane),
  }
}

function databaseFile({ northbound }: ControlPlane): string {
  return join(northbound.root, 'var/lib/ovn/nb.db')
}

/** Entries of load balancers. */
const entries = { Load_Balancer: { columns: ['vips'] } } as const

function entriesIn({ cache }: Reader): number {
  return [...cache.scan('Load_Balancer')].reduce((sum, { vips }) => sum + Object.keys(vips).length, 0)
}

/** Resolves when each Service has its entry; that of the API server may be there, too. */
async function untilServed(plane: ControlPlane, count: number): Promise<void> {
  await using seen = await openReader(plane, entries)
  await until(seen, fullStateMs, `${count} Services have entries`, () => entriesIn(seen) >= count)
}

/** Changes the last endpoint of one Service again and again. */
async function changeEndpoints(
  plane: ControlPlane,
  seen: Reader,
  count: number,
  round: number,
): Promise<void> {
  for (let number = 0; number < count; number++) {
    const address = `10.15.${round}.${number % 250}`
    const next = sliceOf(number % few, [...addressesOf(number % few).slice(1), address])
    const { metadata, endpoints } = next
    const name = { namespace, name: metadata.name }
    await plane.api.client.patch(endpointSlices, name, 'application/merge-patch+json', {
      endpoints: (endpoints ?? []).map((endpoint) => ({ ...endpoint })),
    })
    const isThere = (): boolean =>
      [...seen.cache.scan('Load_Balancer')].some(({ vips }) =>
        vips[`${clusterIpOf(number % few)}:80`]?.includes(`${address}:8080`),
      )
    await until(seen, changeMs, `${address} is a backend`, isThere)
  }
}

async function createServices(plane: ControlPlane, from: number, to: number): Promise<void> {
  await createAll<Service>(
    plane.api,
    services,
    numbers(from, to).map((index) =>
      service({ name: `web-${index}`, namespace, clusterIP: clusterIpOf(index) }),
    ),
  )
  await createAll<EndpointSlice>(
    plane.api,
    endpointSlices,
    numbers(from, to).map((index) => sliceOf(index, addressesOf(index))),
  )
}

function sliceOf(index: number, addresses: readonly string[]): EndpointSlice {
  return endpointSlice({
    name: `web-${index}-1`,
    namespace,
    service: `web-${index}`,
    endpoints: [...addresses],
  })
}

function clusterIpOf(index: number): string {
  return `10.100.${Math.floor(index / 250)}.${(index % 250) + 1}`
}

/** Each Service has others, in the default subnet. */
function addressesOf(index: number): readonly string[] {
  return numbers(0, endpointCount).map((place) => {
    const number = 256 + ((index * endpointCount + place) % 65_000)
    return `10.16.${number >> 8}.${number & 255}`
  })
}

function subnetOf(index: number): ReturnType<typeof subnet> {
  return subnet({
    name: `subnet-${index}`,
    cidrBlock: `10.${20 + (index >> 8)}.${index & 255}.0/24`,
  })
}
