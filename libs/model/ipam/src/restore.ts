import { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, type DualStackIp, type Family } from '@kube-ovn/ip'
import { AddressConflictError, MacConflictError, NicConflictError } from './errors.ts'
import type { Ipam } from './ipam.ts'
import type { Lease } from './lease.ts'
import type { Owner } from './owner.ts'

/** Addresses that somebody wrote down: in an IP object, an annotation, a status, or a row of the Northbound. */
export interface AddressRecord {
  readonly subnet: string
  readonly nic: string
  readonly owner: Owner
  readonly uid?: string | undefined
  /** At least one, but for NICs that have a MAC address only. */
  readonly addresses: DualStackIp
  /** Without it the NIC gets one; `false` when it is to have none. */
  readonly mac?: string | false | undefined
  /** Others may have the same addresses. */
  readonly isShared?: boolean | undefined
  /** Whether the owner uses the addresses at this moment, as a running pod does. */
  readonly isRunning?: boolean | undefined
  /** Whether the owner does not exist any more, so that the addresses are to be released. */
  readonly isOver?: boolean | undefined
}

/** A record that could not be taken over as it is. */
export interface RecordConflict<R extends AddressRecord> {
  readonly record: R
  /** Who has what the record claims; empty when nobody does, and the subnet refuses it. */
  readonly holders: readonly Owner[]
  /** What is the matter, first of all. */
  readonly error: KubeOvnError
  /** What the NIC has all the same. */
  readonly lease: Lease | undefined
}

/**
 * Takes over what was written down, so that no address that is seen anywhere is handed out again.
 *
 * Of several records of a NIC the first one counts, and later ones add what it lacks. Of two owners that claim one
 * address, one that runs has it before one that does not, and one that exists before one that is gone, and then the
 * one that comes first; the other keeps what nobody disputes.
 */
export function restoreRecords<R extends AddressRecord>(
  ipam: Ipam,
  records: Iterable<R>,
): readonly RecordConflict<R>[] {
  const all = [...records]
  const running = new Set(all.filter(({ isRunning }) => isRunning === true).map(({ nic }) => nic))
  const turns = Object.groupBy(all, ({ nic, isRunning, isOver }) => {
    return isRunning === true || running.has(nic) ? 'running' : isOver === true ? 'over' : 'waiting'
  })
  const conflicts: RecordConflict<R>[] = []
  for (const turn of [turns.running, turns.waiting, turns.over]) {
    for (const record of turn ?? []) {
      const conflict = restore(ipam, record)
      if (conflict !== undefined) conflicts.push(conflict)
    }
  }
  return conflicts
}

function restore<R extends AddressRecord>(ipam: Ipam, record: R): RecordConflict<R> | undefined {
  const held = ipam.lease(record.nic)
  const claim = held === undefined ? record.addresses : missing(held, record.addresses)
  const hasAddresses = claim.v4 !== undefined || claim.v6 !== undefined
  // A record that has none yet is no reason to draw one.
  if (!hasAddresses && (held !== undefined || ipam.families(record.subnet).length > 0)) return undefined
  const first = attempt(ipam, record, claim, held)
  if (first === undefined) return undefined
  // One family, or the MAC address, is somebody else's: what is not must not be handed out all the same.
  if (first instanceof MacConflictError) attempt(ipam, { ...record, isShared: true }, claim, held)
  else if (claim.v4 !== undefined && claim.v6 !== undefined) {
    for (const part of [{ v4: claim.v4 }, { v6: claim.v6 }]) {
      const now = ipam.lease(record.nic)
      if (attempt(ipam, record, part, now) instanceof MacConflictError)
        attempt(ipam, { ...record, isShared: true }, part, now)
    }
  }
  return { record, holders: holdersOf(first), error: first, lease: ipam.lease(record.nic) }
}

/** What of the addresses the lease has no other address for. */
function missing(lease: Lease, { v4, v6 }: DualStackIp): DualStackIp {
  return { v4: lease.v4 === undefined ? v4 : undefined, v6: lease.v6 === undefined ? v6 : undefined }
}

function attempt(
  ipam: Ipam,
  record: AddressRecord,
  addresses: DualStackIp,
  held: Lease | undefined,
): KubeOvnError | undefined {
  const { subnet, nic, owner, uid, isShared } = record
  const mac = held?.mac ?? record.mac
  try {
    const family = onlyFamily(addresses)
    ipam.allocate({ subnet, nic, owner, uid, static: addresses, family, mac, shareOnConflict: isShared })
    return undefined
  } catch (error) {
    if (error instanceof KubeOvnError) return error
    throw error
  }
}

/** The family of the address if it is the only one: none of the other is to be drawn. */
function onlyFamily({ v4, v6 }: DualStackIp): Family | undefined {
  if (v4 !== undefined && v6 !== undefined) return undefined
  const only = v4 ?? v6
  return only === undefined ? undefined : familyOf(only)
}

function holdersOf(error: KubeOvnError): readonly Owner[] {
  if (error instanceof AddressConflictError || error instanceof MacConflictError) return error.details.holders
  return error instanceof NicConflictError ? [error.details.holder] : []
}
