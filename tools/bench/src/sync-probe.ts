import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient } from 'ovsdb-client'
import { addPorts, contentTables, portName } from './northbound-content.ts'

/** What a fresh process saw of one synchronisation. */
export interface SyncReport {
  readonly rows: number
  /** From connecting to a cache that can be used. */
  readonly ms: number
  readonly cpuSeconds: number
  /** Longest time for which the event loop did not turn. */
  readonly stallMs: number
  readonly bytesPerRow: number
  /** Resident memory at its highest. */
  readonly peakRssMib: number
  /** Of a row by the value of an indexed column. */
  readonly lookupNs: number
  /** Processor time of a transaction that adds a port to a switch with 50,000, until the cache shows it. */
  readonly joinCpuMs: number
}

const resolutionMs = 1
const lookups = 200_000
const joins = 100
/** Ports that no block has. */
const firstJoin = 10_000_000

/** Run with `--expose-gc` in a process of its own, so that nothing is warm: `node --expose-gc sync-probe.ts ADDRESS`. */
async function main(address: string): Promise<SyncReport> {
  await using client = new OvsdbClient<OvnNorthbound>({
    endpoints: [address],
    schema: ovnNorthboundSchema,
    tables: contentTables,
    inactivityProbeMs: 0,
  })
  const heapBefore = heapBytes()
  const turns = monitorEventLoopDelay({ resolution: resolutionMs })
  turns.enable()
  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  await client.connect()
  const ms = performance.now() - startedMs
  const cpuSeconds = cpuSince(cpuBefore)
  // A stall is noticed by the turn that follows it.
  await delay(5 * resolutionMs)
  turns.disable()
  const peakRssMib = process.resourceUsage().maxRSS / 1024
  const rows = contentTableNames.reduce((sum, table) => sum + client.cache.count(table), 0)
  const bytesPerRow = (heapBytes() - heapBefore) / rows
  return {
    rows,
    ms,
    cpuSeconds,
    stallMs: turns.max / 1e6,
    bytesPerRow,
    peakRssMib,
    lookupNs: lookupNs(client),
    joinCpuMs: await joinCpuMs(client),
  }
}

const contentTableNames = Object.keys(contentTables) as readonly (keyof typeof contentTables)[]

function heapBytes(): number {
  gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function lookupNs({ cache }: OvsdbClient<OvnNorthbound>): number {
  const ports = cache.count('Logical_Switch_Port')
  const names = Array.from({ length: 1000 }, (_, index) => portName((index * 37) % ports))
  let found = 0
  const startedMs = performance.now()
  for (let turn = 0; turn < lookups; turn++) {
    found += cache.find('Logical_Switch_Port', 'name', names[turn % names.length] ?? '').length
  }
  const ns = ((performance.now() - startedMs) * 1e6) / lookups
  if (found !== lookups) throw new TypeError(`${found} of ${lookups} lookups found their row`)
  return ns
}

async function joinCpuMs(client: OvsdbClient<OvnNorthbound>): Promise<number> {
  const [logicalSwitch] = client.cache.scan('Logical_Switch')
  const uuid = logicalSwitch?._uuid ?? ''
  const added: string[] = []
  const cpuBefore = process.cpuUsage()
  for (let join = 0; join < joins; join++) {
    const [result] = await client.transact(addPorts(client, uuid, [firstJoin + join]))
    added.push(String(result?.uuid))
  }
  const cpuMs = (cpuSince(cpuBefore) * 1000) / joins
  await client.transact([client.operations.mutate('Logical_Switch', uuid, [['ports', 'delete', added]])])
  return cpuMs
}

process.stdout.write(JSON.stringify(await main(process.argv[2] ?? '')))
