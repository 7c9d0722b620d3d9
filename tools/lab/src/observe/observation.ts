import type { Cluster } from '../cluster/cluster.ts'
import { auditPosition, isWrite, readAudit } from './audit-log.ts'
import { readComponents, usedBetween, type ComponentUse, type Components } from './components.ts'
import { countTransactions, logPosition } from './database-log.ts'
import { ovnCentral } from './northbound.ts'
import { packetsBetween, readPackets, type PacketCounts } from './packets.ts'
import type { ProcessAccounting } from './process-accounting.ts'

/** What the whole system did in a time, seen from outside of it. */
export interface Observation {
  readonly ms: number
  readonly transactions: { readonly northbound: number; readonly southbound: number }
  /** Writes to the API, by client, and by verb and resource; without Leases. */
  readonly writes: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Processes that each component started and that have ended; empty without process accounting. */
  readonly forks: ReadonlyMap<string, number>
  readonly components: readonly ComponentUse[]
  readonly packets: PacketCounts
}

/** Begins to observe; what is returned ends it and tells. */
export async function startObservation(
  cluster: Cluster,
  accounting?: ProcessAccounting,
): Promise<() => Promise<Observation>> {
  const first = await ovnCentral(cluster)
  const [northbound, southbound, before] = await Promise.all([
    logPosition(first, 'northbound'),
    logPosition(first, 'southbound'),
    readComponents(cluster),
  ])
  const audit = auditPosition(cluster)
  const packets = readPackets(cluster)
  const ended = accounting?.ended().length ?? 0
  const started = performance.now()
  return async () => {
    const ms = performance.now() - started
    // Who led at the beginning may be gone.
    const last = await ovnCentral(cluster)
    const [ofNorthbound, ofSouthbound, after] = await Promise.all([
      countTransactions(last, northbound, 'northbound'),
      countTransactions(last, southbound, 'southbound'),
      readComponents(cluster),
    ])
    return {
      ms,
      transactions: { northbound: ofNorthbound, southbound: ofSouthbound },
      writes: countWrites(readAudit(cluster, audit).filter(isWrite)),
      forks: countForks(accounting?.ended().slice(ended) ?? [], before, after),
      components: usedBetween(before, after),
      packets: packetsBetween(packets, readPackets(cluster)),
    }
  }
}

/** Counts requests by who made them, and by what they asked for. */
export function countWrites(
  requests: readonly {
    readonly user: string
    readonly verb: string
    readonly resource: string
    readonly subresource: string | undefined
  }[],
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const byUser = Map.groupBy(requests, ({ user }) => user.replace(/^system:/, ''))
  return new Map(
    [...byUser].map(([user, own]) => {
      const byVerb = Map.groupBy(own, ({ verb, resource, subresource }) =>
        [verb, resource, ...(subresource === undefined ? [] : [subresource])].join(' '),
      )
      return [user, new Map([...byVerb].map(([verb, { length }]) => [verb, length]))]
    }),
  )
}

/** Counts processes that ended by the component that had started them. */
export function countForks(
  ended: readonly { readonly parentPid: number }[],
  ...looks: readonly Components[]
): ReadonlyMap<string, number> {
  const owners = new Map(
    looks.flatMap((look) => [...look].flatMap(([name, all]) => all.map(({ pid }) => [pid, name] as const))),
  )
  const counts = new Map<string, number>()
  for (const { parentPid } of ended) {
    const owner = owners.get(parentPid)
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return counts
}

/** Components that used less are not worth a line. */
const shownCpuSeconds = 0.01

/** Renders an observation for a person. */
export function renderObservation({
  ms,
  transactions,
  writes,
  forks,
  components,
  packets,
}: Observation): string {
  const seconds = (ms / 1000).toFixed(1)
  const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)
  return [
    `in ${seconds} s: ${transactions.northbound} transactions of the Northbound, ${transactions.southbound} of the Southbound`,
    ...[...writes].map(([user, verbs]) => {
      const detail = [...verbs].map(([verb, count]) => `${count} × ${verb}`).join(', ')
      return `  ${sum(verbs)} API writes of ${user}: ${detail}`
    }),
    ...[...forks].map(([name, count]) => `  ${count} forks of ${name}`),
    ...components
      .filter(({ cpuSeconds }) => cpuSeconds >= shownCpuSeconds)
      .map(
        ({ name, cpuSeconds, residentMib }) =>
          `  ${name}: ${cpuSeconds.toFixed(2)} s of CPU, ${Math.round(residentMib)} MiB resident`,
      ),
    ...[...packets]
      .filter(([link]) => /br-phy$|ovn0$|eth\d$|phys0$/.test(link))
      .map(([link, { received, sent }]) => `  ${link}: ${received} packets in, ${sent} out`),
    '',
  ].join('\n')
}
