import type { Statistics } from '@kube-ovn/ipam'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import type { Subnet } from '@kube-ovn/kube-api'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import {
  countedSubnets,
  countOf,
  type PublishedCounts,
  saysOtherwise,
} from '@kube-ovn/domains-control/addresses'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'

/** How many addresses of a subnet are in use and which are free. */
interface StatusSnapshot {
  readonly name: string
  readonly statistics: Statistics
}

/** Publishes the counts of each subnet, at most once a second however many pods come and go. */
export const subnetStatus: ControlFeature<string, StatusSnapshot> = {
  name: 'subnet-status',
  kinds: [],
  rights: [{ resource: subnetResource, subresource: 'status', verbs: ['patch'] }],
  paceMs: 1000,
  triggers: [
    { on: 'object', resource: ipResource, keys: countedSubnets },
    { on: 'signal', signal: 'addresses', keys: (name) => [name] },
    { on: 'signal', signal: 'usage', keys: (name) => [name] },
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>, world) =>
        old === undefined || isMiscounted(current, world) ? [key] : [],
    },
  ],
  observe: (name, world) =>
    world.addressing.get(name) !== undefined && world.subnets.get(name) !== undefined
      ? { name, statistics: world.ipam.statistics(name) }
      : undefined,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredStatus(snapshot)),
}

/** Somebody else may have written the counts. What was written here comes back as it is. */
function isMiscounted(subnet: Subnet | undefined, world: ControlWorld): boolean {
  if (subnet === undefined || world.addressing.get(subnet.metadata.name) === undefined) return false
  return saysOtherwise(subnet.status, countsOf(world.ipam.statistics(subnet.metadata.name)))
}

/** Computes the counts of a subnet; a family that it does not have counts nothing. */
export function desiredStatus({ name, statistics }: StatusSnapshot): Desired {
  const status = countsOf(statistics)
  return {
    ...nothing,
    patches: [{ resource: subnetResource, name, subresource: 'status', merge: { status } }],
  }
}

function countsOf({ v4, v6 }: Statistics): PublishedCounts {
  return {
    v4availableIPs: countOf(v4?.available),
    v4availableIPrange: v4?.availableRanges ?? '',
    v4usingIPs: countOf(v4?.using),
    v4usingIPrange: v4?.usingRanges ?? '',
    v6availableIPs: countOf(v6?.available),
    v6availableIPrange: v6?.availableRanges ?? '',
    v6usingIPs: countOf(v6?.using),
    v6usingIPrange: v6?.usingRanges ?? '',
  }
}
