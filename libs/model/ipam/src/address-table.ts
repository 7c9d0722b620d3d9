import { formatIp, RangeSet, type Ip } from '@kube-ovn/ip'
import { AddressIndex, type AddressKey } from './address-index.ts'
import { AddressSet } from './address-set.ts'
import {
  AddressConflictError,
  AddressOutOfRangeError,
  NoAvailableAddressError,
  type AddressConflict,
} from './errors.ts'
import type { FamilyLayout } from './family-layout.ts'
import { distinct, type AddressState, type FamilyStatistics, type Skipped } from './lease.ts'
import type { LeaseRows } from './lease-rows.ts'
import { isSameOwner, type Owner } from './owner.ts'
import { availableIn, defaultPool, forkPool, freshPool, PoolMap, type Pool } from './pool.ts'

/**
 * Who holds which address of one family of a subnet, and which comes next.
 *
 * Each usable address is reserved, held, free or released: exactly one of the last three if it is not reserved.
 */
export class AddressTable<A extends Ip> {
  readonly #subnet: string
  readonly #layout: FamilyLayout<A>
  readonly #leases: AddressIndex<A>
  readonly #key: AddressKey<A>
  /** Reserved addresses that are held. Few: somebody asked for each by name. */
  readonly #heldReserved: RangeSet<A>
  /** The default pool is always there. */
  readonly #pools: Map<string, Pool<A>>
  #poolMap: PoolMap<A>

  private constructor(
    subnet: string,
    layout: FamilyLayout<A>,
    key: AddressKey<A>,
    leases: AddressIndex<A>,
    heldReserved: RangeSet<A>,
    pools: Map<string, Pool<A>>,
  ) {
    this.#subnet = subnet
    this.#layout = layout
    this.#key = key
    this.#leases = leases
    this.#heldReserved = heldReserved
    this.#pools = pools
    this.#poolMap = new PoolMap(pools.values())
  }

  static create<A extends Ip>(
    subnet: string,
    layout: FamilyLayout<A>,
    key: AddressKey<A>,
    pools: Iterable<readonly [string, RangeSet<A>]>,
  ): AddressTable<A> {
    const none = RangeSet.in(layout.space)
    const leases = new AddressIndex(layout.space, layout.block.first, key)
    const table = new AddressTable(subnet, layout, key, leases, none, new Map())
    table.#buildPools(pools, none)
    return table
  }

  get layout(): FamilyLayout<A> {
    return this.#layout
  }

  fork(): AddressTable<A> {
    const pools = new Map<string, Pool<A>>()
    for (const [name, pool] of this.#pools) pools.set(name, forkPool(pool))
    const reserved = this.#heldReserved.clone()
    const leases = this.#leases.fork()
    const { layout } = this
    return new AddressTable(this.#subnet, layout, this.#key, leases, reserved, pools)
  }

  /**
   * A table of a new layout with the same leases, of which those outside the new range are yet to be dropped.
   *
   * All that is not held is free again: what had been released is forgotten.
   */
  relaid(layout: FamilyLayout<A>, rows: LeaseRows): AddressTable<A> {
    const held = RangeSet.in(layout.space)
    const key = this.#key
    const addresses = [...this.#leases.numbers()]
      .map((number) => key.of(rows, number))
      .filter((ip) => ip !== undefined)
    // In order, since a range set is built up fastest from its low end.
    for (const ip of addresses.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))) held.add(ip)
    const heldReserved = held.intersect(layout.reserved)
    const leases = this.#leases.from(layout.block.first, rows)
    const table = new AddressTable(this.#subnet, layout, key, leases, heldReserved, new Map())
    const named = [...this.#pools.values()].filter(({ name }) => name !== defaultPool)
    table.#buildPools(
      named.map(({ name, members }) => [name, members]),
      held,
    )
    return table
  }

  /** The leases that have the address, more than one if it is shared. */
  holders(address: A, rows: LeaseRows): readonly number[] {
    return this.#leases.all(address, rows)
  }

  stateOf(address: A, rows: LeaseRows): AddressState {
    const { gateway, usable } = this.#layout
    if (address === gateway) return 'gateway'
    if (this.#leases.has(address, rows)) return 'held'
    return usable.has(address) ? 'free' : 'outside'
  }

  /** Of all leases with an address. */
  numbers(): Iterable<number> {
    return this.#leases.numbers()
  }

  /** Finds out whether a NIC of `owner` may have the address. Throws when not; changes nothing. */
  checkStatic(address: A, owner: Owner, shares: boolean, rows: LeaseRows): void {
    const { block, cidr, gateway, reserved } = this.#layout
    const pool = this.#poolMap.poolOf(address)
    if (address < block.first || address > block.last || pool === undefined) {
      throw new AddressOutOfRangeError({ subnet: this.#subnet, address: formatIp(address), cidr })
    }
    if (address === gateway && !shares) throw this.#conflict('gateway', formatIp(address), [])
    if (this.#leases.has(address, rows)) {
      const owners = this.holders(address, rows).map((number) => rows.owner(number))
      if (shares || owners.every((holder) => isSameOwner(holder, owner))) return
      throw this.#conflict('held', formatIp(address), distinct(owners))
    }
    if (reserved.has(address) || pool.free.has(address) || pool.released.has(address)) return
    // A named pool may list the first and the last address of the CIDR, which ports can not have.
    throw new AddressOutOfRangeError({ subnet: this.#subnet, address: formatIp(address), cidr })
  }

  /** Whether there is anything to draw from the pool. */
  hasRoom(poolName: string): boolean {
    const pool = this.#pools.get(poolName)
    return pool !== undefined && !(pool.free.isEmpty && pool.released.isEmpty)
  }

  /** Chooses the address to draw next: the lowest free one, else the lowest released one. Changes nothing. */
  choose(poolName: string, skip: Skipped): A {
    const pool = this.#pools.get(poolName)
    if (pool === undefined || (pool.free.isEmpty && pool.released.isEmpty)) {
      const { family } = this.#layout.space
      throw new NoAvailableAddressError({ subnet: this.#subnet, pool: poolName, family }, pool !== undefined)
    }
    const address = pool.free.firstExcept(skip) ?? pool.released.firstExcept(skip)
    if (address === undefined) throw this.#conflict('avoided', availableIn(pool).toString(), [])
    return address
  }

  /** Draws an address that has been chosen. Released ones become free again once nothing else is left in the pool. */
  draw(address: A, number: number, poolName: string, rows: LeaseRows): void {
    const pool = this.#pools.get(poolName)
    if (pool === undefined) return
    if (pool.free.isEmpty) {
      const { free, released } = pool
      pool.free = released
      pool.released = free
    }
    this.#leases.add(address, number, rows)
    if (!pool.free.remove(address)) pool.released.remove(address)
  }

  /** Records a lease of an address that has been checked. */
  take(address: A, number: number, rows: LeaseRows): void {
    if (!this.#leases.add(address, number, rows)) return
    if (this.#layout.reserved.has(address)) this.#heldReserved.add(address)
    const pool = this.#poolMap.poolOf(address)
    if (pool === undefined || pool.free.remove(address)) return
    pool.released.remove(address)
  }

  /** Puts a lease of the address into the place of another. */
  replace(address: A, before: number, after: number): void {
    this.#leases.replace(address, before, after)
  }

  /** Forgets a lease; the last one releases the address, or leaves it free, as if it had never been handed out. */
  drop(address: A, number: number, rows: LeaseRows, into: 'released' | 'free' = 'released'): void {
    if (!this.#leases.remove(address, number, rows)) return
    if (this.#layout.reserved.has(address)) this.#heldReserved.remove(address)
    else this.#poolMap.poolOf(address)?.[into].add(address)
  }

  /** Makes a new pool of addresses that are in no named pool. */
  addPool(name: string, members: RangeSet<A>): void {
    const { usable, reserved } = this.#layout
    let free = RangeSet.in(this.#layout.space)
    for (const pool of this.#pools.values()) free = free.union(availableIn(pool))
    const held = usable.minus(reserved).minus(free)
    this.#pools.set(name, freshPool(name, members, this.#layout, held))
    this.#buildDefaultPool(held)
  }

  /** Gives the addresses of a pool back to the default pool, with their order of hand-out. */
  removePool(name: string): void {
    const pool = this.#pools.get(name)
    const rest = this.#pools.get(defaultPool)
    if (pool === undefined || rest === undefined) return
    const { space, block, usable } = this.#layout
    this.#pools.delete(name)
    this.#pools.set(defaultPool, {
      name: defaultPool,
      members: rest.members.union(pool.members.intersect(usable)),
      free: AddressSet.of(space, block.first, rest.free.toRangeSet().union(pool.free.toRangeSet())),
      released: AddressSet.of(
        space,
        block.first,
        rest.released.toRangeSet().union(pool.released.toRangeSet()),
      ),
    })
    this.#poolMap = new PoolMap(this.#pools.values())
  }

  /** Counts without what is reserved: it is neither available nor in use. */
  statistics(): FamilyStatistics {
    let available = RangeSet.in(this.#layout.space)
    for (const pool of this.#pools.values()) available = available.union(availableIn(pool))
    const { usable, reserved } = this.#layout
    return statisticsOf(available, usable.minus(reserved).minus(available))
  }

  /** Counts of one pool; in use are reserved addresses too, if they were asked for. */
  poolStatistics(name: string): FamilyStatistics | undefined {
    const pool = this.#pools.get(name)
    if (pool === undefined) return undefined
    const { usable, reserved } = this.#layout
    const available = availableIn(pool)
    const held = pool.members.intersect(usable).minus(reserved).minus(available)
    return statisticsOf(available, held.union(pool.members.intersect(this.#heldReserved)))
  }

  /** The pools as they are, for the one who checks them. */
  pools(): Iterable<Pool<A>> {
    return this.#pools.values()
  }

  #conflict(conflict: AddressConflict, address: string, holders: readonly Owner[]): AddressConflictError {
    return new AddressConflictError({ subnet: this.#subnet, conflict, address, holders })
  }

  #buildPools(named: Iterable<readonly [string, RangeSet<A>]>, held: RangeSet<A>): void {
    for (const [name, members] of named) {
      this.#pools.set(name, freshPool(name, members, this.#layout, held))
    }
    this.#buildDefaultPool(held)
  }

  #buildDefaultPool(held: RangeSet<A>): void {
    let members = this.#layout.usable
    for (const [name, pool] of this.#pools) if (name !== defaultPool) members = members.minus(pool.members)
    this.#pools.set(defaultPool, freshPool(defaultPool, members, this.#layout, held))
    this.#poolMap = new PoolMap(this.#pools.values())
  }
}

function statisticsOf<A extends Ip>(available: RangeSet<A>, using: RangeSet<A>): FamilyStatistics {
  return {
    available: available.size(),
    using: using.size(),
    availableRanges: available.toString(),
    usingRanges: using.toString(),
  }
}
