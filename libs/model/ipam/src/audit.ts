import { formatIp, formatIpList, tryParseMac, type Ip } from '@kube-ovn/ip'
import type { IpamView } from './ipam.ts'
import type { Lease } from './lease.ts'
import { isSameOwner, ownerOf, type Owner } from './owner.ts'
import type { AddressRecord } from './restore.ts'

/** What is wrong between what is held and what is written down. */
export type AddressRule =
  /** A record claims an address that another owner holds. */
  | 'held-twice'
  /** The same of a MAC address. */
  | 'mac-held-twice'
  /** A record claims an address that nobody holds, so that it may be handed out a second time. */
  | 'unheld'
  /** A record claims an address that its subnet does not have. */
  | 'outside'
  /** A lease has no record: nobody will release it. */
  | 'unrecorded'

/** A record or a lease that contradicts the rest. */
export interface AddressFinding {
  readonly rule: AddressRule
  readonly subnet: string
  readonly nic: string
  /** The address or MAC address in question, or all of a lease. */
  readonly address: string
  /** Whoever claims it, and then those who have it. */
  readonly owners: readonly [Owner, ...Owner[]]
}

/**
 * Compares what is held with all that is written down, on a live system that has come to rest.
 *
 * For a system at work, {@link judgeRecord} and {@link judgeLease} do the same piece by piece.
 */
export function auditRecords(ipam: IpamView, records: Iterable<AddressRecord>): readonly AddressFinding[] {
  const found: AddressFinding[] = []
  const recorded = new Set<string>()
  for (const record of records) {
    recorded.add(record.nic)
    found.push(...judgeRecord(ipam, record))
  }
  for (const lease of ipam.leases()) if (!recorded.has(lease.nic)) found.push(judgeLease(lease))
  return found
}

/** Finds what a record claims without its NIC having it. */
export function judgeRecord(ipam: IpamView, record: AddressRecord): readonly AddressFinding[] {
  const { subnet, nic, owner, addresses, mac } = record
  const found: AddressFinding[] = []
  for (const ip of [addresses.v4, addresses.v6]) {
    const problem = ip === undefined ? undefined : judgeAddress(ipam, record, ip)
    if (ip === undefined || problem === undefined) continue
    const { rule, others } = problem
    found.push({ rule, subnet, nic, address: formatIp(ip), owners: [owner, ...others] })
  }
  const others = typeof mac === 'string' ? otherMacHolders(ipam, record, mac) : []
  if (others.length > 0)
    found.push({ rule: 'mac-held-twice', subnet, nic, address: String(mac), owners: [owner, ...others] })
  return found
}

/** What is wrong with a lease that no record names. */
export function judgeLease({ subnet, nic, owner, v4, v6, mac }: Lease): AddressFinding {
  const address = v4 === undefined && v6 === undefined ? (mac ?? '') : formatIpList({ v4, v6 })
  return { rule: 'unrecorded', subnet, nic, address, owners: [owner] }
}

interface AddressProblem {
  readonly rule: AddressRule
  readonly others: readonly Owner[]
}

function judgeAddress(ipam: IpamView, record: AddressRecord, ip: Ip): AddressProblem | undefined {
  const { subnet, nic, owner, isShared } = record
  switch (ipam.stateOf(subnet, ip)) {
    case 'outside':
      return { rule: 'outside', others: [] }
    case 'gateway':
      return { rule: 'held-twice', others: [ownerOf('router-port', subnet)] }
    case 'free':
      return { rule: 'unheld', others: [] }
    case 'held': {
      const lease = ipam.lease(nic)
      const isIts = lease?.subnet === subnet && (lease.v4 === ip || lease.v6 === ip)
      if (isIts && isSameOwner(lease.owner, owner)) return undefined
      const others = ipam.holders(subnet, ip).filter((holder) => !isSameOwner(holder, owner))
      // Another NIC of the owner has it: when that one is released, the address is free.
      if (others.length === 0) return { rule: 'unheld', others }
      return isShared === true ? undefined : { rule: 'held-twice', others }
    }
  }
}

function otherMacHolders(
  ipam: IpamView,
  { subnet, nic, owner, isShared }: AddressRecord,
  text: string,
): readonly Owner[] {
  const mac = tryParseMac(text)
  const lease = ipam.lease(nic)
  if (mac === undefined || isShared === true || (lease?.subnet === subnet && lease.mac === mac)) return []
  return ipam.macHolders(subnet, mac).filter((holder) => !isSameOwner(holder, owner))
}
