import { KubeOvnError } from '@kube-ovn/errors'
import { parseRangeSets, type RangeSets } from '@kube-ovn/ip'
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

/** What an IPPool meant when its status was written. */
interface Former {
  readonly ips: readonly string[]
  readonly members: RangeSets
}

type Formers = ReadonlyMap<IpPool, Former>

/**
 * Puts into effect the IPPools that were in effect when the last process ended.
 *
 * Of two that have addresses in common the one that was in effect wins, then the older one. What was edited into
 * something useless, or into addresses of another one, stays in effect as its status has it, until the edit is judged like
 * one of any other time. So a restart changes nothing.
 */
export function restorePools(world: ControlWorld): void {
  const formers = new Map([...world.ipPools.values()].flatMap(formerOf))
  const candidates = [...world.ipPools.values()].flatMap((pool) => candidatesFor(pool, formers))
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

function candidatesFor(pool: IpPool, formers: Formers): readonly Candidate[] {
  const { name, creationTimestamp = '' } = pool.metadata
  const { subnet = '', ips = [] } = pool.spec ?? {}
  const rank = (order: number): string => [order, creationTimestamp, name].join(' ')
  const isReady = isConditionTrue(pool.status?.conditions, conditionType.ready)
  const former = formers.get(pool)
  return [
    // Edited since its status was written, it may be of no use although it was ready then.
    { rank: rank(isReady && !takesFromOthers(pool, formers) ? 0 : 2), name, subnet, ips },
    ...(former === undefined ? [] : [{ rank: rank(1), name, subnet, ips: former.ips }]),
  ]
}

/** Whether it names addresses that another one had. */
function takesFromOthers(pool: IpPool, formers: Formers): boolean {
  const members = membersOf(pool.spec?.ips ?? [])
  if (members === undefined) return false
  return [...formers].some(
    ([other, { members: theirs }]) =>
      other !== pool &&
      other.spec?.subnet === pool.spec?.subnet &&
      !(members.v4.intersect(theirs.v4).isEmpty && members.v6.intersect(theirs.v6).isEmpty),
  )
}

function formerOf(pool: IpPool): readonly (readonly [IpPool, Former])[] {
  const { status } = pool
  const ips = [
    status?.v4AvailableIPRange,
    status?.v4UsingIPRange,
    status?.v6AvailableIPRange,
    status?.v6UsingIPRange,
  ]
    .flatMap((ranges) => (ranges ?? '').split(','))
    .filter((range) => range !== '')
    .map((range) => range.replace('-', '..'))
  const members = ips.length === 0 ? undefined : membersOf(ips)
  return members === undefined ? [] : [[pool, { ips, members }]]
}

function membersOf(ips: readonly string[]): RangeSets | undefined {
  try {
    return parseRangeSets(ips)
  } catch (error) {
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}
