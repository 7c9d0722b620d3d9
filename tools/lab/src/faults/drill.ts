import { readFileSync } from 'node:fs'
import { machineOf } from '../cluster/lookup.ts'
import { placeOf } from '../checks/check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { ApiError, WatchedPodGoneError } from '../errors.ts'
import { addressesOfPod, type PodObject } from '../kubernetes/workloads.ts'
import { startPing, type PingLoss } from '../probe/ping.ts'
import { findProcesses } from './processes.ts'
import type { Container } from '../docker/container.ts'
import type { Place } from '../namespaces.ts'

/** Who is to reach which address while something breaks. */
export interface WatchedPath {
  readonly name: string
  readonly from: Place
  readonly address: string
  /** The names of those of its ends that are gone, if they can go; who can not be asked about is not. */
  readonly findGone?: () => Promise<readonly string[]>
  /** The machines whose ovs-vswitchd forward its packets, if they are known. */
  readonly dataPaths?: readonly Container[]
}

/** The paths from one pod to every address of another. */
export function pathsBetween(cluster: Cluster, from: PodObject, to: PodObject): readonly WatchedPath[] {
  return addressesOfPod(to).map((address) => ({
    name: `${from.spec.nodeName} to ${address} on ${to.spec.nodeName}`,
    from: placeOf(cluster, from),
    address,
    findGone: async () => (await Promise.all([from, to].map((pod) => goneName(cluster, pod)))).flat(),
    dataPaths: [from, to].map(({ spec }) => machineOf(cluster, spec.nodeName ?? '')),
  }))
}

async function goneName({ api }: Cluster, { metadata }: PodObject): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
  try {
    const now = await api.call<PodObject>('GET', path)
    const isSame = now.metadata.uid === metadata.uid && now.metadata.deletionTimestamp === undefined
    return isSame ? [] : [metadata.name]
  } catch (error) {
    return error instanceof ApiError && error.details.status === 404 ? [metadata.name] : []
  }
}

/** A time in which nothing got through. */
interface Outage {
  /** From the first packet of all to the first that was lost. */
  readonly fromMs: number
  /** To the first one after it that got through; undefined if none did. */
  readonly toMs?: number
  readonly packets: number
}

/** What a path lost while something was broken and repaired. */
export interface PathLoss {
  readonly name: string
  readonly sent: number
  readonly lost: number
  readonly outages: readonly Outage[]
  /** How long its data paths meanwhile waited for a processor, together. */
  readonly waitedMs: number
  /** Between two packets. */
  readonly intervalMs: number
}

/** Between two packets of a path, where nothing else is asked for. */
const usualIntervalMs = 50

/** The time of the packets that flow before the work begins and after it has ended, if they are sent in time. */
const marginMs = 500

/** The packets that flow while something is done. */
export interface Flow {
  /** Resolves when so many more were sent on every path: on a machine that is busy, a time says nothing of how many those are. */
  packets(count: number): Promise<void>
}

/**
 * Does something while packets flow on every path, 20 a second or as many as asked for, and tells which were lost and when.
 *
 * @throws {WatchedPodGoneError} if a pod at an end of a path is gone
 */
export async function lossDuring(
  paths: readonly WatchedPath[],
  work: (flow: Flow) => Promise<void>,
  intervalMs = usualIntervalMs,
): Promise<readonly PathLoss[]> {
  const waited = watchWaiting(paths)
  const pings = paths.map((path) => ({ path, ping: startPing(path.from, path.address, intervalMs) }))
  const flow: Flow = {
    packets: async (count) => void (await Promise.all(pings.map(({ ping }) => ping.more(count)))),
  }
  const margin = marginMs / intervalMs
  try {
    await Promise.all(pings.map(({ ping }) => ping.started()))
    await flow.packets(margin)
    await work(flow)
    await flow.packets(margin)
    await refuseGone(paths)
  } catch (error) {
    await Promise.all(pings.map(({ ping }) => ping.stop()))
    throw error
  }
  return Promise.all(
    pings.map(async ({ path, ping }) => describeLoss(path.name, await ping.stop(), waited(path), intervalMs)),
  )
}

/**
 * Watches for how long data paths are kept from the processors of a machine that others keep busy. In userspace they
 * forward nothing meanwhile; a kernel would.
 */
function watchWaiting(paths: readonly WatchedPath[]): (path: WatchedPath) => number {
  const containers = new Set(paths.flatMap(({ dataPaths = [] }) => dataPaths))
  const before = new Map([...containers].map((container) => [container, readWaiting(container)]))
  return ({ dataPaths = [] }) => {
    let waitedMs = 0
    for (const container of new Set(dataPaths))
      for (const [pid, ms] of readWaiting(container)) waitedMs += ms - (before.get(container)?.get(pid) ?? 0)
    return waitedMs
  }
}

/** Time that each ovs-vswitchd of a machine has spent waiting on a run queue so far, ms (proc_pid_schedstat(5)). */
function readWaiting(container: Container): ReadonlyMap<number, number> {
  return new Map(
    findProcesses(container, 'vswitchd').flatMap((pid): [number, number][] => {
      try {
        const [, waitedNs = ''] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
        return [[pid, Number(waitedNs) / 1e6]]
      } catch {
        // It has ended.
        return []
      }
    }),
  )
}

/** What data paths can wait on a machine that has nothing else to do, ms. */
const usualWaitMs = 500

/** The outages of a path, or none if its data paths waited for a processor for as long as all of them took. */
export function outagesByFault({ outages, waitedMs, intervalMs }: PathLoss): readonly Outage[] {
  const packets = outages.reduce((sum, outage) => sum + outage.packets, 0)
  return waitedMs > usualWaitMs && packets * intervalMs <= waitedMs ? [] : outages
}

async function refuseGone(paths: readonly WatchedPath[]): Promise<void> {
  const asked = paths.flatMap(({ findGone }) => (findGone === undefined ? [] : [findGone()]))
  const gone = new Set((await Promise.all(asked)).flat())
  if (gone.size > 0)
    throw new WatchedPodGoneError('pods that are watched are gone', {
      pods: [...gone].sort().join(', '),
      cure: 'look for who deleted them: after five minutes without a node its pods are evicted, unless they tolerate its taints',
    })
}

/** Puts lost packets that follow one another together. */
export function describeLoss(
  name: string,
  { sent, lost }: PingLoss,
  waitedMs = 0,
  intervalMs = usualIntervalMs,
): PathLoss {
  const outages: Outage[] = []
  for (let index = 0; index < lost.length;) {
    const first = lost[index] ?? 0
    let packets = 1
    while (lost[index + packets] === first + packets) packets++
    const next = first + packets
    outages.push({
      fromMs: (first - 1) * intervalMs,
      ...(next > sent ? {} : { toMs: (next - 1) * intervalMs }),
      packets,
    })
    index += packets
  }
  return { name, sent, lost: lost.length, outages, waitedMs, intervalMs }
}

/** One line for a reader. */
export function renderLoss({ name, sent, lost, outages, waitedMs }: PathLoss): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(2)
  const times = outages.map(
    ({ fromMs, toMs }) => `${seconds(fromMs)} s to ${toMs === undefined ? 'the end' : `${seconds(toMs)} s`}`,
  )
  if (lost > 0 && waitedMs > usualWaitMs)
    times.push(`its data paths waited ${seconds(waitedMs)} s for a processor`)
  return `${name}: ${lost} of ${sent} lost${times.length === 0 ? '' : `, ${times.join(', ')}`}`
}
