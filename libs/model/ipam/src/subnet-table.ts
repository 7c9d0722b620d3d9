import {
  familyOf,
  isIpv4,
  isIpv6,
  type Family,
  type Ip,
  type Ipv4,
  type Ipv6,
  type Mac,
  type RangeSet,
  type RangeSets,
} from '@kube-ovn/ip'
import type { AddressKey } from './address-index.ts'
import { AddressTable } from './address-table.ts'
import {
  CidrInvalidError,
  InvalidIpFamilyError,
  PoolConflictError,
  PoolOutsideSubnetError,
} from './errors.ts'
import { sameLayout, type FamilyLayout } from './family-layout.ts'
import { hashBigint, hashNumber } from './hash.ts'
import { isHomeNic } from './home-nic.ts'
import type { AddressState, AllocateRequest, Skipped, Statistics } from './lease.ts'
import type { LeaseRow, LeaseRows } from './lease-rows.ts'
import type { MacBits } from './mac-bits.ts'
import type { MacSource } from './mac-source.ts'
import { MacTable } from './mac-table.ts'
import { defaultPool } from './pool.ts'
import type { SubnetLayout } from './subnet-layout.ts'

const byV4: AddressKey<Ipv4> = { of: (rows, number) => rows.v4(number), hash: hashNumber }
const byV6: AddressKey<Ipv6> = { of: (rows, number) => rows.v6(number), hash: hashBigint }

const nothingToSkip: Skipped = new Set()

/**
 * All that is held in one subnet. Planning throws and changes nothing; recording changes and does not throw.
 *
 * It knows leases by their numbers. Whoever calls lends the rows, as several allocators may share a subnet, each with
 * rows of its own.
 */
export class SubnetTable {
  readonly name: string
  /** The allocator that may change it; every other one copies it first. */
  readonly writer: object
  #v4: AddressTable<Ipv4> | undefined
  #v6: AddressTable<Ipv6> | undefined
  #macs: MacTable
  readonly #pools: Map<string, RangeSets>

  private constructor(
    name: string,
    writer: object,
    v4: AddressTable<Ipv4> | undefined,
    v6: AddressTable<Ipv6> | undefined,
    macs: MacTable,
    pools: Map<string, RangeSets>,
  ) {
    this.name = name
    this.writer = writer
    this.#v4 = v4
    this.#v6 = v6
    this.#macs = macs
    this.#pools = pools
  }

  static create(name: string, writer: object, layout: SubnetLayout): SubnetTable {
    const v4 = layout.v4 && AddressTable.create(name, layout.v4, byV4, [])
    const v6 = layout.v6 && AddressTable.create(name, layout.v6, byV6, [])
    return new SubnetTable(name, writer, v4, v6, new MacTable(name), new Map())
  }

  fork(writer: object): SubnetTable {
    const [v4, v6, macs] = [this.#v4?.fork(), this.#v6?.fork(), this.#macs.fork()]
    return new SubnetTable(this.name, writer, v4, v6, macs, new Map(this.#pools))
  }

  /** Families that ports get addresses of. */
  get families(): readonly Family[] {
    const families: Family[] = []
    if (this.#v4 !== undefined) families.push(4)
    if (this.#v6 !== undefined) families.push(6)
    return families
  }

  get v4(): AddressTable<Ipv4> | undefined {
    return this.#v4
  }

  get v6(): AddressTable<Ipv6> | undefined {
    return this.#v6
  }

  get macs(): MacTable {
    return this.#macs
  }

  /** Of all that is held here, each once; nothing must change while it is read. */
  numbers(): Iterable<number> {
    return new Set([...(this.#v4?.numbers() ?? []), ...(this.#v6?.numbers() ?? []), ...this.#macs.numbers()])
  }

  holders(ip: Ip, rows: LeaseRows): readonly number[] {
    return (isIpv4(ip) ? this.#v4?.holders(ip, rows) : this.#v6?.holders(ip, rows)) ?? []
  }

  stateOf(ip: Ip, rows: LeaseRows): AddressState {
    return (isIpv4(ip) ? this.#v4?.stateOf(ip, rows) : this.#v6?.stateOf(ip, rows)) ?? 'outside'
  }

  statistics(): Statistics {
    return { v4: this.#v4?.statistics(), v6: this.#v6?.statistics() }
  }

  poolStatistics(pool: string): Statistics {
    return { v4: this.#v4?.poolStatistics(pool), v6: this.#v6?.poolStatistics(pool) }
  }

  /** Whether an address of each family that the subnet has, or of the one, could be drawn from the pool. */
  hasRoom(pool: string, family: Family | undefined): boolean {
    const v4 = family === 6 || this.#v4 === undefined || this.#v4.hasRoom(pool)
    return v4 && (family === 4 || this.#v6 === undefined || this.#v6.hasRoom(pool))
  }

  setGatewayMac(mac: Mac | undefined): void {
    this.#macs = this.#macs.withGateway(mac)
  }

  /** Whether {@link relay} with this layout would change nothing. */
  hasLayout(layout: SubnetLayout): boolean {
    return agrees(this.#v4, layout.v4) && agrees(this.#v6, layout.v6)
  }

  /** Refuses to take all addresses away from a subnet that has some. @throws CidrInvalidError */
  checkLayout(layout: SubnetLayout): void {
    if (layout.v4 !== undefined || layout.v6 !== undefined) return
    const had = this.#v4?.layout.cidr ?? this.#v6?.layout.cidr
    if (had === undefined) return
    const cure = `keep the CIDR ${had}, or delete the subnet`
    throw new CidrInvalidError({ subnet: this.name, field: 'cidrs', value: '', cure })
  }

  /** Moves to another layout, of which nobody is a loser; families that stay the same keep their order of hand-out. */
  relay(layout: SubnetLayout, rows: LeaseRows): void {
    this.#v4 = this.#relaid(this.#v4, layout.v4, byV4, (pool) => pool.v4, rows)
    this.#v6 = this.#relaid(this.#v6, layout.v6, byV6, (pool) => pool.v6, rows)
  }

  /** The leases that have an address which the layout does not have. */
  losers(layout: SubnetLayout, rows: LeaseRows): readonly number[] {
    const losers = new Set<number>()
    for (const number of this.#v4?.numbers() ?? [])
      if (stays(rows.v4(number), layout.v4) === undefined) losers.add(number)
    for (const number of this.#v6?.numbers() ?? [])
      if (stays(rows.v6(number), layout.v6) === undefined) losers.add(number)
    return [...losers]
  }

  #relaid<A extends Ipv4 | Ipv6>(
    table: AddressTable<A> | undefined,
    layout: FamilyLayout<A> | undefined,
    key: AddressKey<A>,
    members: (pool: RangeSets) => RangeSet<A>,
    rows: LeaseRows,
  ): AddressTable<A> | undefined {
    if (layout === undefined) return undefined
    if (table !== undefined) return sameLayout(table.layout, layout) ? table : table.relaid(layout, rows)
    const pools = [...this.#pools].map(([name, pool]) => [name, members(pool)] as const)
    return AddressTable.create(this.name, layout, key, pools)
  }

  /** Whether {@link setPool} with these members would change nothing. */
  hasPool(name: string, members: RangeSets): boolean {
    const pool = this.#pools.get(name)
    return pool !== undefined && pool.v4.equals(members.v4) && pool.v6.equals(members.v6)
  }

  knowsPool(name: string): boolean {
    return this.#pools.has(name)
  }

  get poolNames(): Iterable<string> {
    return this.#pools.keys()
  }

  /** Refuses addresses that another named pool has. @throws PoolConflictError */
  checkPool(name: string, members: RangeSets): void {
    for (const [sibling, theirs] of this.#pools) {
      if (sibling === name) continue
      const shared = [theirs.v4.intersect(members.v4), theirs.v6.intersect(members.v6)]
      const addresses = shared.map(String).filter((text) => text !== '')
      if (addresses.length === 0) continue
      throw new PoolConflictError({ subnet: this.name, pool: name, sibling, value: addresses.join(',') })
    }
  }

  /** Whether ports of the subnet may have one of the addresses. */
  hasSome({ v4, v6 }: RangeSets): boolean {
    return (
      (this.#v4 !== undefined && !v4.intersect(this.#v4.layout.usable).isEmpty) ||
      (this.#v6 !== undefined && !v6.intersect(this.#v6.layout.usable).isEmpty)
    )
  }

  /** What is wrong with an entry of a pool whose addresses are none of the subnet. */
  strayEntry(pool: string, value: string): PoolOutsideSubnetError {
    const cidrs = [this.#v4?.layout.cidr, this.#v6?.layout.cidr].filter((cidr) => cidr !== undefined)
    return new PoolOutsideSubnetError({ subnet: this.name, pool, value, cidr: cidrs.join(',') })
  }

  setPool(name: string, members: RangeSets): void {
    this.removePool(name)
    this.#pools.set(name, members)
    this.#v4?.addPool(name, members.v4)
    this.#v6?.addPool(name, members.v6)
  }

  removePool(name: string): void {
    this.#pools.delete(name)
    this.#v4?.removePool(name)
    this.#v6?.removePool(name)
  }

  /**
   * Decides what the NIC gets. Throws when the request can not be met; changes nothing.
   *
   * @param nicHash of the NIC's name
   * @param held the lease that the NIC has in this subnet, or 0
   */
  plan(request: AllocateRequest, nicHash: number, held: number, rows: LeaseRows, macs: MacSource): LeaseRow {
    const { nic, owner, family } = request
    this.#checkFamilies(request)
    const fixed = request.static
    const fixed4 = fixed?.v4 !== undefined && isIpv4(fixed.v4) ? fixed.v4 : undefined
    const fixed6 = fixed?.v6 !== undefined && isIpv6(fixed.v6) ? fixed.v6 : undefined
    const held4 = held === 0 ? undefined : rows.v4(held)
    const held6 = held === 0 ? undefined : rows.v6(held)
    // Both static addresses are checked before anything is drawn, so that the error is about what the user asked for.
    checkFixed(this.#v4, fixed4, held4, request, rows)
    checkFixed(this.#v6, fixed6, held6, request, rows)
    const v4 = family === 6 ? unlessSkipped(held4, request) : choose(this.#v4, fixed4, held4, request)
    const v6 = family === 4 ? unlessSkipped(held6, request) : choose(this.#v6, fixed6, held6, request)
    const heldMac = held === 0 ? undefined : rows.mac(held)
    const mac = this.#chooseMac(request, heldMac, rows, macs)
    // What stays of a lease that was shared may have other holders.
    const keepsSome = isKept(v4, held4) || isKept(v6, held6) || isKept(mac, heldMac)
    return {
      nic,
      nicHash,
      owner,
      isHome: isHomeNic(nic, owner),
      uid: request.uid ?? (held !== 0 && rows.owner(held) === owner ? rows.uid(held) : undefined),
      subnet: this.name,
      v4,
      v6,
      mac,
      isShared: request.shareOnConflict === true || (keepsSome && rows.isShared(held)),
    }
  }

  /** @throws InvalidIpFamilyError when the subnet does not have what is asked for. */
  #checkFamilies(request: AllocateRequest): void {
    const { family } = request
    if (family === undefined && request.static === undefined) return
    // A subnet without addresses gives a MAC address whatever family is wished for.
    const isMacOnly = this.#v4 === undefined && this.#v6 === undefined
    if (family !== undefined && !isMacOnly && !this.#has(family)) throw this.#familyError(family)
    for (const ip of [request.static?.v4, request.static?.v6]) {
      if (ip === undefined) continue
      // By what it is and not by where it stands.
      const requested = familyOf(ip)
      if (!this.#has(requested) || (family ?? requested) !== requested) throw this.#familyError(requested)
    }
  }

  #has(family: Family): boolean {
    return (family === 4 ? this.#v4 : this.#v6) !== undefined
  }

  #familyError(requested: Family): InvalidIpFamilyError {
    return new InvalidIpFamilyError({ subnet: this.name, requested, offered: this.families })
  }

  #chooseMac(
    request: AllocateRequest,
    held: MacBits | undefined,
    rows: LeaseRows,
    source: MacSource,
  ): MacBits | undefined {
    if (request.mac === false) return undefined
    if (request.mac === undefined) return held ?? this.#macs.choose(source, rows)
    return this.#macs.check(request.mac, request.owner, request.shareOnConflict ?? false, held, rows)
  }

  /**
   * Records a planned lease in place of `held`, taking the new addresses before the old ones are released.
   *
   * @param held the lease that the NIC has in this subnet, or 0
   */
  record(number: number, row: LeaseRow, held: number, request: AllocateRequest, rows: LeaseRows): void {
    const drawn4 = request.static?.v4 === undefined ? (request.pool ?? defaultPool) : undefined
    const drawn6 = request.static?.v6 === undefined ? (request.pool ?? defaultPool) : undefined
    exchange(this.#v4, held, held === 0 ? undefined : rows.v4(held), number, row.v4, drawn4, rows)
    exchange(this.#v6, held, held === 0 ? undefined : rows.v6(held), number, row.v6, drawn6, rows)
    if (held !== 0) this.#macs.drop(rows.mac(held), held)
    this.#macs.take(row.mac, number)
  }

  /** Records a lease of addresses that the subnet has. */
  take(number: number, rows: LeaseRows): void {
    const [v4, v6] = [rows.v4(number), rows.v6(number)]
    if (v4 !== undefined) this.#v4?.take(v4, number, rows)
    if (v6 !== undefined) this.#v6?.take(v6, number, rows)
    this.#macs.take(rows.mac(number), number)
  }

  /** Forgets a lease: its addresses are released, or free as if they had never been handed out. */
  release(number: number, rows: LeaseRows, into: 'released' | 'free' = 'released'): void {
    const [v4, v6] = [rows.v4(number), rows.v6(number)]
    if (v4 !== undefined) this.#v4?.drop(v4, number, rows, into)
    if (v6 !== undefined) this.#v6?.drop(v6, number, rows, into)
    this.#macs.drop(rows.mac(number), number)
  }
}

/** What is left of a lease in another layout; nothing, when that is no address. */
export function remainder(number: number, layout: SubnetLayout, rows: LeaseRows): LeaseRow | undefined {
  const row = rows.row(number)
  const v4 = stays(row.v4, layout.v4)
  const v6 = stays(row.v6, layout.v6)
  return v4 === undefined && v6 === undefined ? undefined : { ...row, v4, v6 }
}

function isKept(now: Ip | MacBits | undefined, held: Ip | MacBits | undefined): boolean {
  return now !== undefined && now === held
}

/** The address, if the layout has it. */
function stays<A extends Ip>(address: A | undefined, layout: FamilyLayout<A> | undefined): A | undefined {
  return address !== undefined && layout?.usable.has(address) === true ? address : undefined
}

function agrees<A extends Ip>(
  table: AddressTable<A> | undefined,
  layout: FamilyLayout<A> | undefined,
): boolean {
  if (table === undefined || layout === undefined) return table === undefined && layout === undefined
  return sameLayout(table.layout, layout)
}

function checkFixed<A extends Ip>(
  table: AddressTable<A> | undefined,
  fixed: A | undefined,
  held: A | undefined,
  request: AllocateRequest,
  rows: LeaseRows,
): void {
  if (fixed === undefined || fixed === held) return
  table?.checkStatic(fixed, request.owner, request.shareOnConflict ?? false, rows)
}

function unlessSkipped<A extends Ip>(held: A | undefined, { skip }: AllocateRequest): A | undefined {
  return held === undefined || skip?.has(held) === true ? undefined : held
}

function choose<A extends Ip>(
  table: AddressTable<A> | undefined,
  fixed: A | undefined,
  held: A | undefined,
  request: AllocateRequest,
): A | undefined {
  if (table === undefined) return undefined
  if (fixed !== undefined) return fixed
  const skip = request.skip ?? nothingToSkip
  if (held !== undefined && !skip.has(held)) return held
  return table.choose(request.pool ?? defaultPool, skip)
}

/** @param drawnFrom the pool that the next address was drawn from; without it, it was asked for */
function exchange<A extends Ip>(
  table: AddressTable<A> | undefined,
  held: number,
  old: A | undefined,
  number: number,
  next: A | undefined,
  drawnFrom: string | undefined,
  rows: LeaseRows,
): void {
  if (table === undefined) return
  if (old !== undefined && old === next) {
    table.replace(old, held, number)
    return
  }
  if (next !== undefined) {
    if (drawnFrom === undefined) table.take(next, number, rows)
    else table.draw(next, number, drawnFrom, rows)
  }
  if (old !== undefined) table.drop(old, held, rows)
}
