import type { Statistics } from '@kube-ovn/ipam'
import { ipPoolResource, ipResource } from '@kube-ovn/kube-api'
import type { Ip, IpPool } from '@kube-ovn/kube-api'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import {
  countedSubnets,
  countOf,
  type PublishedCounts,
  saysOtherwise,
} from '@kube-ovn/domains-control/addresses'
import { storeIndex, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'

/** How many addresses of an IPPool are in use and which are free. */
interface StatusSnapshot {
  readonly name: string
  readonly statistics: Statistics
}

/** Publishes the counts of each IPPool, at most once a second however many pods come and go. */
export const ipPoolStatus: ControlFeature<string, StatusSnapshot> = {
  name: 'ip-pool-status',
  kinds: [],
  rights: [{ resource: ipPoolResource, subresource: 'status', verbs: ['patch'] }],
  paceMs: 1000,
  triggers: [
    {
      on: 'object',
      resource: ipPoolResource,
      keys: (change: ObjectChange<IpPool>, world) =>
        isEdited(change) || isMiscounted(change.new, world) ? [change.key] : [],
    },
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>, world) =>
        countedSubnets(change).flatMap((subnet) => poolsOf(subnet, world)),
    },
    { on: 'signal', signal: 'addresses', keys: poolsOf },
    { on: 'signal', signal: 'usage', keys: poolsOf },
  ],
  observe(name, world) {
    const pool = world.pools.get(name)
    // What its addresses are depends on the subnet.
    return pool === undefined ||
      world.addressing.get(pool.subnet) === undefined ||
      world.ipPools.get(name) === undefined
      ? undefined
      : { name, statistics: world.ipam.poolStatistics(pool.subnet, name) }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredStatus(snapshot)),
}

function isEdited({ old, new: current }: ObjectChange<IpPool>): boolean {
  return current !== undefined && JSON.stringify(old?.spec) !== JSON.stringify(current.spec)
}

/** Somebody else may have written the counts. What was written here comes back as it is. */
function isMiscounted(pool: IpPool | undefined, world: ControlWorld): boolean {
  const inEffect = pool && world.pools.get(pool.metadata.name)
  if (pool === undefined || inEffect === undefined) return false
  return saysOtherwise(pool.status, countsOf(world.ipam.poolStatistics(inEffect.subnet, pool.metadata.name)))
}

function poolsOf(subnet: string, world: ControlWorld): readonly string[] {
  return world.ipPools.find(storeIndex.poolsBySubnet, subnet).map((pool) => pool.metadata.name)
}

/** Computes the counts of an IPPool; a family that its subnet does not have counts nothing. */
export function desiredStatus({ name, statistics }: StatusSnapshot): Desired {
  const status = countsOf(statistics)
  return {
    ...nothing,
    patches: [{ resource: ipPoolResource, name, subresource: 'status', merge: { status } }],
  }
}

function countsOf({ v4, v6 }: Statistics): PublishedCounts {
  return {
    v4AvailableIPs: countOf(v4?.available),
    v4AvailableIPRange: v4?.availableRanges ?? '',
    v4UsingIPs: countOf(v4?.using),
    v4UsingIPRange: v4?.usingRanges ?? '',
    v6AvailableIPs: countOf(v6?.available),
    v6AvailableIPRange: v6?.availableRanges ?? '',
    v6UsingIPs: countOf(v6?.using),
    v6UsingIPRange: v6?.usingRanges ?? '',
  }
}
