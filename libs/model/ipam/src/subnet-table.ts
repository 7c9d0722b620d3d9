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
import { AddressTable, type AddressKey } from './address-table.ts'
import {
  CidrInvalidError,
  InvalidIpFamilyError,
  PoolConflictError,
  PoolOutsideSubnetError,
} from './errors.ts'
import { sameLayout, type FamilyLayout } from './family-layout.ts'
import { hashBigint, hashNumber } from './hash-index.ts'
import type { AddressState, AllocateRequest, Statistics } from './lease.ts'
import type { MacSource } from './mac-source.ts'
import { MacTable } from './mac-table.ts'
import { defaultPool } from './pool.ts'
import type { SubnetLayout } from './subnet-layout.ts'
import { SubnetLease } from './subnet-lease.ts'

const byV4: AddressKey<Ipv4> = {
  of: ({ v4 }) => v4,
  hash: hashNumber,
  hashOf: ({ v4 }) => (v4 === undefined ? 0 : hashNumber(v4)),
}
const byV6: AddressKey<Ipv6> = {
  of: ({ v6 }) => v6,
  hash: hashBigint,
  hashOf: ({ v6 }) => (v6 === undefined ? 0 : hashBigint(v6)),
}

const nothingToSkip: ReadonlySet<Ip> = new Set()

/** What became of a lease: without `after` nothing is left of it. */
export interface LeaseChange {
  readonly before: SubnetLease
  readonly after: SubnetLease | undefined
}

/** All that is held in one subnet. Planning throws and changes nothing; recording changes and does not throw. */
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

  /** All that is held here, each once; nothing must change while it is read. */
  leases(): Iterable<SubnetLease> {
    return new Set([...(this.#v4?.leases() ?? []), ...(this.#v6?.leases() ?? []), ...this.#macs.leases()])
  }

  holders(ip: Ip): readonly SubnetLease[] {
    return (isIpv4(ip) ? this.#v4?.holders(ip) : this.#v6?.holders(ip)) ?? []
  }

  stateOf(ip: Ip): AddressState {
    return (isIpv4(ip) ? this.#v4?.stateOf(ip) : this.#v6?.stateOf(ip)) ?? 'outside'
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

  setGatewayMac(mac: Mac): void {
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

  /** Moves to another layout; families that stay the same keep their order of hand-out. */
  relay(layout: SubnetLayout): readonly LeaseChange[] {
    const changes = this.#losers(layout).map((before): LeaseChange => {
      const v4 = stays(before.v4, layout.v4)
      const v6 = stays(before.v6, layout.v6)
      const isOver = v4 === undefined && v6 === undefined
      return { before, after: isOver ? undefined : before.withAddresses(v4, v6) }
    })
    for (const { before, after } of changes) {
      this.release(before)
      if (after !== undefined) this.#take(after)
    }
    this.#v4 = this.#relaid(this.#v4, layout.v4, byV4, (pool) => pool.v4)
    this.#v6 = this.#relaid(this.#v6, layout.v6, byV6, (pool) => pool.v6)
    return changes
  }

  /** The leases that have an address which the layout does not have. */
  #losers(layout: SubnetLayout): readonly SubnetLease[] {
    const losers = new Set<SubnetLease>()
    for (const lease of this.#v4?.leases() ?? [])
      if (stays(lease.v4, layout.v4) === undefined) losers.add(lease)
    for (const lease of this.#v6?.leases() ?? [])
      if (stays(lease.v6, layout.v6) === undefined) losers.add(lease)
    return [...losers]
  }

  #relaid<A extends Ipv4 | Ipv6>(
    table: AddressTable<A> | undefined,
    layout: FamilyLayout<A> | undefined,
    key: AddressKey<A>,
    members: (pool: RangeSets) => RangeSet<A>,
  ): AddressTable<A> | undefined {
    if (layout === undefined) return undefined
    if (table !== undefined) return sameLayout(table.layout, layout) ? table : table.relaid(layout)
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

  /** What is wrong with an entry of a pool whose addresses are none of the subnet; nothing when one of them is. */
  judgePoolEntry(pool: string, value: string, { v4, v6 }: RangeSets): PoolOutsideSubnetError | undefined {
    const isUseful =
      (this.#v4 !== undefined && !v4.intersect(this.#v4.layout.usable).isEmpty) ||
      (this.#v6 !== undefined && !v6.intersect(this.#v6.layout.usable).isEmpty)
    if (isUseful) return undefined
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

  /** Decides what the NIC gets, that has `held` in this subnet. Throws when the request can not be met; changes nothing. */
  plan(request: AllocateRequest, held: SubnetLease | undefined, macs: MacSource): SubnetLease {
    const { nic, owner, family } = request
    this.#checkFamilies(request)
    const fixed = request.static
    const fixed4 = fixed?.v4 !== undefined && isIpv4(fixed.v4) ? fixed.v4 : undefined
    const fixed6 = fixed?.v6 !== undefined && isIpv6(fixed.v6) ? fixed.v6 : undefined
    // Both static addresses are checked before anything is drawn, so that the error is about what the user asked for.
    checkFixed(this.#v4, fixed4, held?.v4, request)
    checkFixed(this.#v6, fixed6, held?.v6, request)
    const v4 = family === 6 ? held?.v4 : choose(this.#v4, fixed4, held?.v4, request)
    const v6 = family === 4 ? held?.v6 : choose(this.#v6, fixed6, held?.v6, request)
    const mac = this.#chooseMac(request, held, macs)
    const isShared =
      request.shareOnConflict === true || (held?.isShared === true && keepsSome(held, v4, v6, mac))
    return new SubnetLease({
      nic,
      owner,
      uid: request.uid ?? (held?.owner === owner ? held.uid : undefined),
      subnet: this.name,
      v4,
      v6,
      mac,
      isShared: isShared ? true : undefined,
    })
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

  #chooseMac(request: AllocateRequest, held: SubnetLease | undefined, macs: MacSource): Mac | undefined {
    if (request.mac === false) return undefined
    if (request.mac === undefined) return held?.mac ?? this.#macs.choose(macs)
    return this.#macs.check(request.mac, request.owner, request.shareOnConflict ?? false, held?.mac)
  }

  /** Records a planned lease in place of `held`, taking the new addresses before the old ones are released. */
  record(lease: SubnetLease, held: SubnetLease | undefined, request: AllocateRequest): void {
    const pool = request.pool ?? defaultPool
    exchange(this.#v4, held, held?.v4, lease, lease.v4, request.static?.v4 === undefined, pool)
    exchange(this.#v6, held, held?.v6, lease, lease.v6, request.static?.v6 === undefined, pool)
    if (held !== undefined) this.#macs.drop(held)
    this.#macs.take(lease)
  }

  release(lease: SubnetLease): void {
    if (lease.v4 !== undefined) this.#v4?.drop(lease.v4, lease)
    if (lease.v6 !== undefined) this.#v6?.drop(lease.v6, lease)
    this.#macs.drop(lease)
  }

  #take(lease: SubnetLease): void {
    if (lease.v4 !== undefined) this.#v4?.take(lease.v4, lease)
    if (lease.v6 !== undefined) this.#v6?.take(lease.v6, lease)
    this.#macs.take(lease)
  }
}

/** Whether anything of the lease stays, which others may have because it was shared. */
function keepsSome(
  held: SubnetLease,
  v4: Ipv4 | undefined,
  v6: Ipv6 | undefined,
  mac: Mac | undefined,
): boolean {
  return (
    (v4 !== undefined && v4 === held.v4) ||
    (v6 !== undefined && v6 === held.v6) ||
    (mac !== undefined && mac === held.mac)
  )
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
): void {
  if (fixed === undefined || fixed === held) return
  table?.checkStatic(fixed, request.owner, request.shareOnConflict ?? false)
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

function exchange<A extends Ip>(
  table: AddressTable<A> | undefined,
  held: SubnetLease | undefined,
  old: A | undefined,
  lease: SubnetLease,
  next: A | undefined,
  isDrawn: boolean,
  pool: string,
): void {
  if (table === undefined) return
  if (held !== undefined && old !== undefined && old === next) {
    table.replace(held, lease)
    return
  }
  if (next !== undefined) {
    if (isDrawn) table.draw(next, lease, pool)
    else table.take(next, lease)
  }
  if (held !== undefined && old !== undefined) table.drop(old, held)
}
