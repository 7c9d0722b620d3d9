import { setTimeout as delay } from 'node:timers/promises'
import { placeOf } from '../checks/check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { addressesOfPod, type PodObject } from '../kubernetes/workloads.ts'
import { startPing, type PingLoss } from '../probe/ping.ts'
import type { Place } from '../namespaces.ts'

/** Who is to reach which address while something breaks. */
export interface WatchedPath {
  readonly name: string
  readonly from: Place
  readonly address: string
}

/** The paths from one pod to every address of another. */
export function pathsBetween(cluster: Cluster, from: PodObject, to: PodObject): readonly WatchedPath[] {
  return addressesOfPod(to).map((address) => ({
    name: `${from.spec.nodeName} to ${address} on ${to.spec.nodeName}`,
    from: placeOf(cluster, from),
    address,
  }))
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
}

/** Between two packets of a path. */
const intervalMs = 50

/** How long packets flow before the work begins and after it has ended. */
const marginMs = 500

/** Does something while packets flow on every path, 20 a second, and tells which were lost and when. */
export async function lossDuring(
  paths: readonly WatchedPath[],
  work: () => Promise<void>,
): Promise<readonly PathLoss[]> {
  const pings = paths.map(({ name, from, address }) => ({ name, ping: startPing(from, address) }))
  try {
    await Promise.all(pings.map(({ ping }) => ping.started()))
    await delay(marginMs)
    await work()
    await delay(marginMs)
  } catch (error) {
    await Promise.all(pings.map(({ ping }) => ping.stop()))
    throw error
  }
  return Promise.all(pings.map(async ({ name, ping }) => describeLoss(name, await ping.stop())))
}

/** Puts lost packets that follow one another together. */
export function describeLoss(name: string, { sent, lost }: PingLoss): PathLoss {
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
  return { name, sent, lost: lost.length, outages }
}

/** One line for a reader. */
export function renderLoss({ name, sent, lost, outages }: PathLoss): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(2)
  const times = outages.map(
    ({ fromMs, toMs }) => `${seconds(fromMs)} s to ${toMs === undefined ? 'the end' : `${seconds(toMs)} s`}`,
  )
  return `${name}: ${lost} of ${sent} lost${times.length === 0 ? '' : `, ${times.join(', ')}`}`
}
