import { readFileSync } from 'node:fs'
import { inNamespace } from '@kube-ovn/netlink'
import type { Cluster } from '../cluster/cluster.ts'
import { namespaceOf } from '../namespaces.ts'

/** Packets that links received and sent, by `NODE LINK`. */
export type PacketCounts = ReadonlyMap<string, { readonly received: number; readonly sent: number }>

/** Reads the counters of every node's links, without starting anything. */
export function readPackets(cluster: Cluster): PacketCounts {
  return new Map(
    cluster.nodes.flatMap(({ name, place }) => {
      const table = inNamespace(namespaceOf(place), () => readFileSync('/proc/thread-self/net/dev', 'utf8'))
      return parseLinkCounters(table).map(([link, counts]) => [`${name} ${link}`, counts] as const)
    }),
  )
}

/** Reads /proc/net/dev (proc_pid_net(5)): two lines of headings, then received and sent, eight columns each. */
export function parseLinkCounters(
  table: string,
): readonly (readonly [string, { readonly received: number; readonly sent: number }])[] {
  return table
    .split('\n')
    .slice(2)
    .filter((line) => line.includes(':'))
    .map((line) => {
      const [link = '', counters = ''] = line.split(':')
      const columns = counters.trim().split(/\s+/)
      return [link.trim(), { received: Number(columns[1]), sent: Number(columns[9]) }] as const
    })
}

/** What was counted in between, of links that counted anything. */
export function packetsBetween(before: PacketCounts, after: PacketCounts): PacketCounts {
  return new Map(
    [...after]
      .map(([link, { received, sent }]) => {
        const earlier = before.get(link) ?? { received: 0, sent: 0 }
        return [link, { received: received - earlier.received, sent: sent - earlier.sent }] as const
      })
      .filter(([, { received, sent }]) => received + sent > 0),
  )
}
