import type { Statistics } from '@kube-ovn/ipam'
import { ipPoolResource, ipResource } from '@kube-ovn/kube-api'
import type { Ip, IpPool } from '@kube-ovn/kube-api'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Feature } from '@kube-ovn/reconcile'
import { countOf } from '../addresses/count.ts'
import { storeIndex, type ControlWorld } from '../world.ts'

/** How many addresses of an IPPool are in use and which are free. */
interface StatusSnapshot {
  readonly name: string
  readonly statistics: Statistics
}

/** Publishes the counts of each IPPool, at most once a second however many pods come and go. */
export const ipPoolStatus: Feature<string, StatusSnapshot, ControlWorld> = {
  name: 'ip-pool-status',
  kinds: [],
  paceMs: 1000,
  triggers: [
    {
      on: 'object',
      resource: ipPoolResource,
      keys: (change: ObjectChange<IpPool>) => (isNewOrEdited(change) ? [change.key] : []),
    },
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>, world) => poolsOf(subnetOf(change), world),
    },
    { on: 'signal', signal: 'network', keys: poolsOf },
    { on: 'signal', signal: 'addresses', keys: poolsOf },
    { on: 'signal', signal: 'usage', keys: poolsOf },
  ],
  observe(name, world) {
    const pool = world.pools.get(name)
    return pool === undefined || world.ipPools.get(name) === undefined
      ? undefined
      : { name, statistics: world.ipam.poolStatistics(pool.subnet, name) }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredStatus(snapshot)),
}

/** Somebody else may have written counts, too. */
function isNewOrEdited({ old, new: current }: ObjectChange<IpPool>): boolean {
  if (current === undefined) return false
  return (
    JSON.stringify(old?.spec) !== JSON.stringify(current.spec) ||
    countFields.some((field) => old?.status?.[field] !== current.status?.[field])
  )
}

const countFields = [
  ...(['v4AvailableIPs', 'v4AvailableIPRange', 'v4UsingIPs', 'v4UsingIPRange'] as const),
  ...(['v6AvailableIPs', 'v6AvailableIPRange', 'v6UsingIPs', 'v6UsingIPRange'] as const),
]

function poolsOf(subnet: string, world: ControlWorld): readonly string[] {
  return world.ipPools.find(storeIndex.poolsBySubnet, subnet).map((pool) => pool.metadata.name)
}

function subnetOf({ old, new: current }: ObjectChange<Ip>): string {
  // A record that is only relabelled changes no count.
  return old !== undefined && current !== undefined ? '' : ((current ?? old)?.spec?.subnet ?? '')
}

/** Computes the counts of an IPPool; a family that its subnet does not have counts nothing. */
export function desiredStatus({ name, statistics: { v4, v6 } }: StatusSnapshot): Desired {
  const status = {
    v4AvailableIPs: countOf(v4?.available),
    v4AvailableIPRange: v4?.availableRanges ?? '',
    v4UsingIPs: countOf(v4?.using),
    v4UsingIPRange: v4?.usingRanges ?? '',
    v6AvailableIPs: countOf(v6?.available),
    v6AvailableIPRange: v6?.availableRanges ?? '',
    v6UsingIPs: countOf(v6?.using),
    v6UsingIPRange: v6?.usingRanges ?? '',
  }
  return {
    ...nothing,
    patches: [{ resource: ipPoolResource, name, subresource: 'status', merge: { status } }],
  }
}
