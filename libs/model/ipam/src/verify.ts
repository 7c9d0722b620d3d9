import { compareIps, formatIp, RangeSet, type Ip, type IpRange } from '@kube-ovn/ip'
import type { AddressTable } from './address-table.ts'
import type { LeaseRows } from './lease-rows.ts'
import { macText, type MacBits } from './mac-bits.ts'
import { isSameOwner, type Owner } from './owner.ts'
import { availableIn } from './pool.ts'
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
  numbers: readonly number[],
  rows: LeaseRows,
): Generator<void, readonly Violation[], undefined> {
  const found: Violation[] = []
  const report = (rule: InvariantRule, subject: string, text: string) => {
    found.push({ rule, subnet: table.name, subject, text })
  }
  if (table.v4 !== undefined)
    yield* verifyFamily(table.v4, numbers, rows, (number) => rows.v4(number), report)
  if (table.v6 !== undefined)
    yield* verifyFamily(table.v6, numbers, rows, (number) => rows.v6(number), report)
  for (const number of numbers) {
    const { nic, v4, v6 } = rows.lease(number)
    const mac = rows.mac(number)
    if (mac !== undefined && !table.macs.holders(mac, rows).includes(number))
      report('indexed', nic, `${macText(mac)} is not known to be the NIC's`)
    if (v4 !== undefined && table.v4 === undefined) report('inside', formatIp(v4), 'the subnet has no IPv4')
    if (v6 !== undefined && table.v6 === undefined) report('inside', formatIp(v6), 'the subnet has no IPv6')
    yield
  }
  yield* verifyOwners(numbers, rows, (number) => rows.mac(number), macText, report)
  return found
}

type Report = (rule: InvariantRule, subject: string, text: string) => void

function* verifyFamily<A extends Ip>(
  table: AddressTable<A>,
  numbers: readonly number[],
  rows: LeaseRows,
  addressOf: (number: number) => A | undefined,
  report: Report,
): Generator<void, void, undefined> {
  const { space, usable, reserved } = table.layout
  const addresses: A[] = []
  for (const number of numbers) {
    const address = addressOf(number)
    if (address === undefined) continue
    addresses.push(address)
    if (!usable.has(address))
      report('inside', formatIp(address), `${rows.nic(number)} has it, and the subnet does not`)
    if (!table.holders(address, rows).includes(number))
      report('indexed', formatIp(address), `not known to be ${rows.nic(number)}'s`)
    yield
  }
  const ranges = inOrder(addresses)
  yield
  const held = RangeSet.in(space, ranges)
  const known = [...table.numbers()].length
  const count = addresses.length
  if (known !== count) report('indexed', table.layout.cidr, `${known} leases are known, and ${count} exist`)
  yield* verifyOwners(numbers, rows, addressOf, formatIp, report)
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
function* verifyOwners<K extends Ip | MacBits>(
  numbers: readonly number[],
  rows: LeaseRows,
  keyOf: (number: number) => K | undefined,
  textOf: (key: K) => string,
  report: Report,
): Generator<void, void, undefined> {
  const claims = new Map<K, Owner>()
  for (const number of numbers) {
    yield
    const key = keyOf(number)
    if (key === undefined || rows.isShared(number)) continue
    const owner = rows.owner(number)
    const other = claims.get(key)
    if (other === undefined) claims.set(key, owner)
    else if (!isSameOwner(other, owner)) report('one-owner', textOf(key), `held by ${other} and by ${owner}`)
  }
}

/** A range set is built up fastest from its low end. */
function inOrder<A extends Ip>(addresses: readonly A[]): readonly IpRange<A>[] {
  return addresses.toSorted(compareIps).map((ip) => ({ first: ip, last: ip }))
}
