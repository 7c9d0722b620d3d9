import { KubeOvnError } from '@kube-ovn/errors'
import { conditionType, isConditionTrue } from '@kube-ovn/kube-api'
import type { IpPool } from '@kube-ovn/kube-api'
import type { ControlWorld } from '../world.ts'

/** What an IPPool may mean, the lowest rank first. */
interface Candidate {
  readonly rank: string
  readonly name: string
  readonly subnet: string
  readonly ips: readonly string[]
}

/**
 * Puts into effect the IPPools that were in effect when the last process ended.
 *
 * Of two that have addresses in common the one that was in effect wins, then the older one. What was edited into
 * something useless stays in effect as its status has it. So a restart changes nothing.
 */
export function restorePools(world: ControlWorld): void {
  const candidates = [...world.ipPools.values()].flatMap(candidatesFor)
  for (const { name, subnet, ips } of candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (world.pools.has(name) || !world.ipam.hasSubnet(subnet)) continue
    try {
      world.ipam.setPool(subnet, name, ips)
      world.pools.set(name, { subnet, ips })
    } catch (error) {
      // Reported in its conditions by the feature, which meets it again.
      if (!(error instanceof KubeOvnError)) throw error
    }
  }
}

function candidatesFor({ metadata, spec, status }: IpPool): readonly Candidate[] {
  const { name, creationTimestamp = '' } = metadata
  const { subnet = '', ips = [] } = spec ?? {}
  const rank = (order: number): string => [order, creationTimestamp, name].join(' ')
  const isReady = isConditionTrue(status?.conditions, conditionType.ready)
  const former = [
    status?.v4AvailableIPRange,
    status?.v4UsingIPRange,
    status?.v6AvailableIPRange,
    status?.v6UsingIPRange,
  ]
    .flatMap((ranges) => (ranges ?? '').split(','))
    .filter((range) => range !== '')
    .map((range) => range.replace('-', '..'))
  return [
    // Edited since its status was written, it may be of no use although it was ready then.
    { rank: rank(isReady ? 0 : 2), name, subnet, ips },
    ...(former.length > 0 ? [{ rank: rank(1), name, subnet, ips: former }] : []),
  ]
}
