import { compareIps, formatIp, RangeSet, type Ip, type IpRange } from '@kube-ovn/ip'
import type { AddressTable } from './address-table.ts'
import type { Lease } from './lease.ts'
import { isSameOwner } from './owner.ts'
import { availableIn } from './pool.ts'
import type { SubnetLease } from './subnet-lease.ts'
import type { SubnetTable } from './subnet-table.ts'

/** Which promise is broken. */
export type InvariantRule =
  /** An address or a MAC address has several owners, and more than one of them did not want to share. */
  | 'one-owner'
  /** What a lease says and what the tables say differs. */
  | 'indexed'
  /** A held address is none that the subnet has. */
  | 'inside'
  /** An address is not exactly one of reserved, held, free and released. */
  | 'partition'
  /** Two pools have an address in common. */
  | 'disjoint-pools'
  /** A count differs from a recount. */
  | 'counted'

/** A promise that does not hold; there is never one unless there is a defect. */
export interface Violation {
  readonly rule: InvariantRule
  readonly subnet: string
  /** The address, NIC or pool that shows it. */
  readonly subject: string
  readonly text: string
}

/** Checks one subnet against the leases that name it, by counting everything anew. */
export function verifySubnet(table: SubnetTable, leases: readonly SubnetLease[]): readonly Violation[] {
  const found: Violation[] = []
  const report = (rule: InvariantRule, subject: string, text: string) => {
    found.push({ rule, subnet: table.name, subject, text })
  }
  if (table.v4 !== undefined) verifyFamily(table.v4, leases, (lease) => lease.v4, report)
  if (table.v6 !== undefined) verifyFamily(table.v6, leases, (lease) => lease.v6, report)
  for (const lease of leases) {
    if (lease.mac !== undefined && !table.macs.holders(lease.mac).includes(lease))
      report('indexed', lease.nic, `${lease.mac} is not known to be the NIC's`)
    if (lease.v4 !== undefined && table.v4 === undefined)
      report('inside', formatIp(lease.v4), 'the subnet has no IPv4')
    if (lease.v6 !== undefined && table.v6 === undefined)
      report('inside', formatIp(lease.v6), 'the subnet has no IPv6')
  }
  verifyOwners(leases, (lease) => lease.mac, report)
  return found
}

type Report = (rule: InvariantRule, subject: string, text: string) => void

function verifyFamily<A extends Ip>(
  table: AddressTable<A>,
  leases: readonly SubnetLease[],
  addressOf: (lease: SubnetLease) => A | undefined,
  report: Report,
): void {
  const { space, usable, reserved } = table.layout
  const addresses: A[] = []
  for (const lease of leases) {
    const address = addressOf(lease)
    if (address === undefined) continue
    addresses.push(address)
    const subject = formatIp(address)
    if (!usable.has(address)) report('inside', subject, `${lease.nic} has it, and the subnet does not`)
    if (!table.holders(address).includes(lease)) report('indexed', subject, `not known to be ${lease.nic}'s`)
  }
  const held = RangeSet.in(space, inOrder(addresses))
  const known = [...table.leases()].length
  const count = addresses.length
  if (known !== count) report('indexed', table.layout.cidr, `${known} leases are known, and ${count} exist`)
  verifyOwners(leases, (lease) => text(addressOf(lease)), report)
  verifyPools(table, held, report)
  const { available, using } = table.statistics()
  const isUsing = held.minus(reserved).size()
  if (using !== isUsing) report('counted', table.layout.cidr, `${using} counted as in use, ${isUsing} are`)
  const isFree = usable.minus(reserved).minus(held).size()
  if (available !== isFree)
    report('counted', table.layout.cidr, `${available} counted as free, ${isFree} are`)
}

function verifyPools<A extends Ip>(table: AddressTable<A>, held: RangeSet<A>, report: Report): void {
  const { space, usable, reserved } = table.layout
  let seen = RangeSet.in(space)
  let available = RangeSet.in(space)
  for (const pool of table.pools()) {
    const twice = seen.intersect(pool.members)
    if (!twice.isEmpty) report('disjoint-pools', String(twice), `in pool ${pool.name} and in another`)
    seen = seen.union(pool.members)
    const both = pool.free.toRangeSet().intersect(pool.released.toRangeSet())
    if (!both.isEmpty) report('partition', String(both), 'free and released')
    const strange = availableIn(pool).minus(pool.members)
    if (!strange.isEmpty) report('partition', String(strange), `free in pool ${pool.name}, and not of it`)
    available = available.union(availableIn(pool))
  }
  const expected = usable.minus(reserved).minus(held)
  const lacking = expected.minus(available)
  if (!lacking.isEmpty) report('partition', String(lacking), 'neither reserved, held, free nor released')
  const surplus = available.minus(expected)
  if (!surplus.isEmpty) report('partition', String(surplus), 'free, and reserved or held as well')
}

/** Of the holders of one thing that are different owners, all but one must have said that they share it. */
function verifyOwners(
  leases: readonly SubnetLease[],
  keyOf: (lease: SubnetLease) => string | undefined,
  report: Report,
): void {
  const claims = new Map<string, Lease>()
  for (const lease of leases) {
    const key = keyOf(lease)
    if (key === undefined || lease.isShared === true) continue
    const other = claims.get(key)
    if (other === undefined) claims.set(key, lease)
    else if (!isSameOwner(other.owner, lease.owner))
      report('one-owner', key, `held by ${other.owner} and by ${lease.owner}`)
  }
}

/** A range set is built up fastest from its low end. */
function inOrder<A extends Ip>(addresses: readonly A[]): readonly IpRange<A>[] {
  return addresses.toSorted(compareIps).map((ip) => ({ first: ip, last: ip }))
}

function text(address: Ip | undefined): string | undefined {
  return address === undefined ? undefined : formatIp(address)
}
