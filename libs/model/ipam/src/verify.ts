import { compareIps, formatIp, RangeSet, type Ip, type IpRange, type Mac } from '@kube-ovn/ip'
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

/** Checks one subnet against the leases that name it, by counting everything anew, in steps. */
export function* verifySubnet(
  table: SubnetTable,
  leases: readonly SubnetLease[],
): Generator<void, readonly Violation[], undefined> {
  const found: Violation[] = []
  const report = (rule: InvariantRule, subject: string, text: string) => {
    found.push({ rule, subnet: table.name, subject, text })
  }
  if (table.v4 !== undefined) yield* verifyFamily(table.v4, leases, (lease) => lease.v4, report)
  if (table.v6 !== undefined) yield* verifyFamily(table.v6, leases, (lease) => lease.v6, report)
  for (const lease of leases) {
    if (lease.mac !== undefined && !table.macs.holders(lease.mac).includes(lease))
      report('indexed', lease.nic, `${lease.mac} is not known to be the NIC's`)
    if (lease.v4 !== undefined && table.v4 === undefined)
      report('inside', formatIp(lease.v4), 'the subnet has no IPv4')
    if (lease.v6 !== undefined && table.v6 === undefined)
      report('inside', formatIp(lease.v6), 'the subnet has no IPv6')
    yield
  }
  yield* verifyOwners(leases, (lease) => lease.mac, report)
  return found
}

type Report = (rule: InvariantRule, subject: string, text: string) => void

function* verifyFamily<A extends Ip>(
  table: AddressTable<A>,
  leases: readonly SubnetLease[],
  addressOf: (lease: SubnetLease) => A | undefined,
  report: Report,
): Generator<void, void, undefined> {
  const { space, usable, reserved } = table.layout
  const addresses: A[] = []
  for (const lease of leases) {
    const address = addressOf(lease)
    if (address === undefined) continue
    addresses.push(address)
    if (!usable.has(address))
      report('inside', formatIp(address), `${lease.nic} has it, and the subnet does not`)
    if (!table.holders(address).includes(lease))
      report('indexed', formatIp(address), `not known to be ${lease.nic}'s`)
    yield
  }
  const ranges = inOrder(addresses)
  yield
  const held = RangeSet.in(space, ranges)
  const known = [...table.leases()].length
  const count = addresses.length
  if (known !== count) report('indexed', table.layout.cidr, `${known} leases are known, and ${count} exist`)
  yield* verifyOwners(leases, addressOf, report)
  verifyPools(table, held, report)
  yield
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
function* verifyOwners(
  leases: readonly SubnetLease[],
  keyOf: (lease: SubnetLease) => Ip | Mac | undefined,
  report: Report,
): Generator<void, void, undefined> {
  const claims = new Map<Ip | Mac, Lease>()
  for (const lease of leases) {
    yield
    const key = keyOf(lease)
    if (key === undefined || lease.isShared === true) continue
    const other = claims.get(key)
    if (other === undefined) claims.set(key, lease)
    else if (!isSameOwner(other.owner, lease.owner)) {
      const subject = typeof key === 'string' ? key : formatIp(key)
      report('one-owner', subject, `held by ${other.owner} and by ${lease.owner}`)
    }
  }
}

/** A range set is built up fastest from its low end. */
function inOrder<A extends Ip>(addresses: readonly A[]): readonly IpRange<A>[] {
  return addresses.toSorted(compareIps).map((ip) => ({ first: ip, last: ip }))
}
