import { KubeOvnError } from '@kube-ovn/errors'
import type { AddressList, DualStackIp } from '@kube-ovn/ip'
import { MacConflictError, NicConflictError, NoAvailableAddressError } from './errors.ts'
import type { IpamView } from './ipam.ts'
import type { AllocateRequest, Lease } from './lease.ts'
import { isSameOwner } from './owner.ts'

/**
 * Chooses the first entry of a list that is to be had, as pods of a Deployment do with the list in `ip_pool`: says what to ask for.
 *
 * An entry that the NIC has already stays. Entries whose first address somebody else has are passed over, even when
 * the request would share it. When none is left the refusal of the last one is thrown. Looking at an entry that can not
 * be had costs less than a microsecond.
 *
 * @throws NoAvailableAddressError, and all that {@link IpamView.plan} throws
 */
export function chooseFromList(
  ipam: IpamView,
  request: Omit<AllocateRequest, 'static'>,
  entries: AddressList,
): Planned {
  const { subnet, nic } = request
  const held = ipam.lease(nic)
  const kept = held?.subnet === subnet ? entries.within(held) : undefined
  if (kept !== undefined) return planned(ipam, { ...request, static: kept })
  let refusal: KubeOvnError | undefined
  let passedOver: DualStackIp | undefined
  for (const entry of entries) {
    passedOver = isHopeless(ipam, request, entry) ? entry : undefined
    if (passedOver !== undefined) continue
    try {
      return planEntry(ipam, request, entry)
    } catch (error) {
      if (!(error instanceof KubeOvnError) || isOfNoEntry(error)) throw error
      refusal = error
    }
  }
  // It can not be had, and IPAM says why.
  if (passedOver !== undefined) return planEntry(ipam, request, passedOver)
  const [family = 4] = ipam.families(subnet)
  throw refusal ?? new NoAvailableAddressError({ subnet, pool: '', family })
}

/** What to ask for, and what the answer will be unless something changes in between. */
export interface Planned {
  readonly request: AllocateRequest
  readonly lease: Lease
}

function planned(ipam: IpamView, request: AllocateRequest): Planned {
  return { request, lease: ipam.plan(request) }
}

function planEntry(ipam: IpamView, request: Omit<AllocateRequest, 'static'>, entry: DualStackIp): Planned {
  const shareOnConflict = !isElsewhere(ipam, request, entry) && request.shareOnConflict
  return planned(ipam, { ...request, static: entry, shareOnConflict })
}

/** Whether another entry would be refused for the same. */
function isOfNoEntry(error: unknown): boolean {
  return error instanceof MacConflictError || error instanceof NicConflictError
}

/** Whether IPAM would refuse the entry for sure. */
function isHopeless(ipam: IpamView, request: Omit<AllocateRequest, 'static'>, entry: DualStackIp): boolean {
  if (isElsewhere(ipam, request, entry)) return true
  const isSecondTaken = entry.v4 !== undefined && isElsewhere(ipam, request, { v6: entry.v6 })
  if (isSecondTaken && request.shareOnConflict !== true) return true
  return [entry.v4, entry.v6].some(
    (address) => address !== undefined && ipam.stateOf(request.subnet, address) === 'outside',
  )
}

/** Whether somebody else has the first address of the entry. */
function isElsewhere(
  ipam: IpamView,
  { subnet, owner }: Pick<AllocateRequest, 'subnet' | 'owner'>,
  { v4, v6 }: DualStackIp,
): boolean {
  const first = v4 ?? v6
  const holders = first === undefined ? [] : ipam.holders(subnet, first)
  return holders.some((holder) => !isSameOwner(holder, owner))
}

/**
 * Chooses the entry of a list for a member of a StatefulSet, by the number at the end of the pod's name.
 *
 * Where the numbers start (`spec.ordinals.start`) counts only if it is beyond the list: otherwise upstream gave
 * members the entry of their bare number, and they keep it. A name without a number is the first member.
 */
export function entryOfMember(entries: AddressList, podName: string, start = 0): DualStackIp | undefined {
  const ordinal = ordinalOf(podName) ?? 0
  return entries.at(start < entries.length ? ordinal : ordinal - start)
}

/** The number of a StatefulSet's member; nothing when the name does not end in one. */
export function ordinalOf(podName: string): number | undefined {
  const digits = /-(\d+)$/.exec(podName)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
