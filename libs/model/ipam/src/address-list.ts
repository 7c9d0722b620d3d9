import { KubeOvnError } from '@kube-ovn/errors'
import type { DualStackIp } from '@kube-ovn/ip'
import { NoAvailableAddressError } from './errors.ts'
import type { Ipam } from './ipam.ts'
import type { AllocateRequest, Lease } from './lease.ts'
import { isSameOwner } from './owner.ts'

/**
 * Takes the first entry of a list that is to be had, as pods of a Deployment do with the list in `ip_pool`.
 *
 * An entry that the NIC has already stays. Entries whose first address somebody else has are passed over, even when
 * the request would share it. When none is left the refusal of the last one is thrown.
 *
 * @throws NoAvailableAddressError, and all that {@link Ipam.allocate} throws
 */
export function allocateFromList(
  ipam: Ipam,
  request: Omit<AllocateRequest, 'static'>,
  entries: readonly DualStackIp[],
): Lease {
  const { subnet, nic, owner, shareOnConflict } = request
  const held = ipam.lease(nic)
  const kept = entries.find((entry) => held?.subnet === subnet && isWithin(entry, held))
  if (kept !== undefined) return ipam.allocate({ ...request, static: kept })
  let refusal: KubeOvnError | undefined
  for (const entry of entries) {
    const first = entry.v4 ?? entry.v6
    const holders = first === undefined ? [] : ipam.holders(subnet, first)
    const isElsewhere = holders.some((holder) => !isSameOwner(holder, owner))
    try {
      return ipam.allocate({ ...request, static: entry, shareOnConflict: !isElsewhere && shareOnConflict })
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      refusal = error
    }
  }
  const [family = 4] = ipam.families(subnet)
  throw refusal ?? new NoAvailableAddressError({ subnet, pool: '', family })
}

function isWithin({ v4, v6 }: DualStackIp, lease: Lease): boolean {
  return (v4 === undefined || v4 === lease.v4) && (v6 === undefined || v6 === lease.v6)
}

/**
 * Chooses the entry of a list for a member of a StatefulSet, by the number at the end of the pod's name.
 *
 * Where the numbers start (`spec.ordinals.start`) counts only if it is beyond the list: otherwise upstream gave
 * members the entry of their bare number, and they keep it. A name without a number is the first member.
 */
export function entryOfMember<E>(entries: readonly E[], podName: string, start = 0): E | undefined {
  const ordinal = ordinalOf(podName) ?? 0
  return entries[start < entries.length ? ordinal : ordinal - start]
}

/** The number of a StatefulSet's member; nothing when the name does not end in one. */
export function ordinalOf(podName: string): number | undefined {
  const digits = /-(\d+)$/.exec(podName)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
