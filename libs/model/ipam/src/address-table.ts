import { formatIp, RangeSet, type Ip } from '@kube-ovn/ip'
import { AddressConflictError, AddressOutOfRangeError, NoAvailableAddressError } from './errors.ts'
import type { FamilyLayout } from './family-layout.ts'
import { ForkableMap } from './forkable-map.ts'
import type { FamilyStatistics } from './lease.ts'

export interface Holder {
  readonly nic: string
  readonly owner: string
}

/**
 * A part of the addresses of a family, with its own order of hand-out.
 *
 * `free` and `released` are disjoint, and neither has an address that is held or reserved.
 */
interface Pool<A extends Ip> {
  /** May list addresses that the subnet does not have; they are never free. Not changed in place. */
  readonly members: RangeSet<A>
  /** Not held since the last time that all were used up. */
  readonly free: RangeSet<A>
  /** Given back; drawn only when nothing is free, so that an address is not reused early. */
  readonly released: RangeSet<A>
}

/** The name of the pool of all addresses that are in no named pool. */
export const defaultPool = ''

const none: readonly Holder[] = []

/** Who holds which address of one family of a subnet, and which comes next. */
export class AddressTable<A extends Ip> {
  readonly #subnet: string
  readonly #layout: FamilyLayout<A>
  readonly #holders: ForkableMap<A, readonly Holder[]>
  readonly #using: RangeSet<A>
  /** The default pool is always there. */
  readonly #pools: Map<string, Pool<A>>

  private constructor(
    subnet: string,
    layout: FamilyLayout<A>,
    holders: ForkableMap<A, readonly Holder[]>,
    using: RangeSet<A>,
    pools: Map<string, Pool<A>>,
  ) {
    this.#subnet = subnet
    this.#layout = layout
    this.#holders = holders
    this.#using = using
    this.#pools = pools
  }

  static create<A extends Ip>(
    subnet: string,
    layout: FamilyLayout<A>,
    pools: Iterable<readonly [string, RangeSet<A>]>,
  ): AddressTable<A> {
    const table = new AddressTable(subnet, layout, new ForkableMap(), RangeSet.in(layout.space), new Map())
    table.#buildPools(pools)
    return table
  }

  get layout(): FamilyLayout<A> {
    return this.#layout
  }

  fork(): AddressTable<A> {
    const pools = new Map<string, Pool<A>>()
    for (const [name, pool] of this.#pools) {
      pools.set(name, { members: pool.members, free: pool.free.clone(), released: pool.released.clone() })
    }
    return new AddressTable(this.#subnet, this.#layout, this.#holders.fork(), this.#using.clone(), pools)
  }

  /**
   * A table of a new layout with the holders whose addresses it still has.
   *
   * All that is not held is free again: what had been released is forgotten.
   */
  relaid(layout: FamilyLayout<A>): AddressTable<A> {
    const holders = this.#holders.fork()
    const lost = this.#using.minus(layout.usable)
    if (!lost.isEmpty) {
      for (const [address] of this.#holders.entries()) if (lost.has(address)) holders.delete(address)
    }
    const table = new AddressTable(this.#subnet, layout, holders, this.#using.minus(lost), new Map())
    const named = [...this.#pools].filter(([name]) => name !== defaultPool)
    table.#buildPools(named.map(([name, pool]) => [name, pool.members]))
    return table
  }

  holders(address: A): readonly Holder[] {
    return this.#holders.get(address) ?? none
  }

  /** Finds out whether a NIC of `owner` may have the address. Throws when not; changes nothing. */
  checkStatic(address: A, owner: string, shares: boolean): void {
    const { block, cidr, gateway, reserved } = this.#layout
    const text = formatIp(address)
    const pool = this.#poolOf(address)
    if (address < block.first || address > block.last || pool === undefined) {
      throw new AddressOutOfRangeError({ subnet: this.#subnet, address: text, cidr })
    }
    if (address === gateway && !shares) {
      throw new AddressConflictError({
        subnet: this.#subnet,
        conflict: 'gateway',
        address: text,
        holders: [],
      })
    }
    const holders = this.holders(address)
    if (holders.some((holder) => holder.owner !== owner) && !shares) {
      const names = ownersOf(holders)
      throw new AddressConflictError({
        subnet: this.#subnet,
        conflict: 'held',
        address: text,
        holders: names,
      })
    }
    if (holders.length > 0 || reserved.has(address)) return
    if (pool.free.has(address) || pool.released.has(address)) return
    // A named pool may list the first and the last address of the CIDR, which ports can not have.
    throw new AddressOutOfRangeError({ subnet: this.#subnet, address: text, cidr })
  }

  /** Chooses the address to draw next: the lowest free one, else the lowest released one. Changes nothing. */
  choose(poolName: string, skip: ReadonlySet<Ip>): A {
    const pool = this.#pools.get(poolName)
    if (pool === undefined || (pool.free.isEmpty && pool.released.isEmpty)) {
      throw new NoAvailableAddressError({
        subnet: this.#subnet,
        pool: poolName,
        family: this.#layout.space.family,
      })
    }
    const address = pool.free.firstExcept(skip) ?? pool.released.firstExcept(skip)
    if (address === undefined) {
      const addresses = pool.free.union(pool.released).toString()
      throw new AddressConflictError({
        subnet: this.#subnet,
        conflict: 'avoided',
        address: addresses,
        holders: [],
      })
    }
    return address
  }

  /** Records a holder of an address that has been checked or chosen. */
  take(address: A, holder: Holder): void {
    const others = this.holders(address).filter(({ nic }) => nic !== holder.nic)
    this.#holders.set(address, [...others, holder])
    if (!this.#using.add(address)) return
    const pool = this.#poolOf(address)
    if (pool === undefined || pool.free.remove(address)) return
    pool.released.remove(address)
  }

  /** Makes released addresses free again once nothing else is left in the pool. To be called before drawing from it. */
  recycle(poolName: string): void {
    const pool = this.#pools.get(poolName)
    if (pool === undefined || !pool.free.isEmpty) return
    const { members, free, released } = pool
    this.#pools.set(poolName, { members, free: released, released: free })
  }

  /** Forgets a holder; the last one releases the address. */
  drop(address: A, nic: string): void {
    const others = this.holders(address).filter((holder) => holder.nic !== nic)
    if (others.length > 0) {
      this.#holders.set(address, others)
      return
    }
    this.#holders.delete(address)
    this.#using.remove(address)
    if (!this.#layout.reserved.has(address)) this.#poolOf(address)?.released.add(address)
  }

  /** Makes a new pool of addresses that are in no named pool. */
  addPool(name: string, members: RangeSet<A>): void {
    this.#pools.set(name, this.#freshPool(members))
    this.#rebuildDefaultPool()
  }

  /** Gives the addresses of a pool back to the default pool, with their order of hand-out. */
  removePool(name: string): void {
    const pool = this.#pools.get(name)
    const rest = this.#pools.get(defaultPool)
    if (pool === undefined || rest === undefined) return
    this.#pools.delete(name)
    this.#pools.set(defaultPool, {
      members: rest.members.union(pool.members.intersect(this.#layout.usable)),
      free: rest.free.union(pool.free),
      released: rest.released.union(pool.released),
    })
  }

  /** Counts without what is reserved: it is neither available nor in use. */
  statistics(): FamilyStatistics {
    const { usable, reserved } = this.#layout
    return statisticsOf(usable.minus(reserved).minus(this.#using), this.#using.minus(reserved))
  }

  /** Counts of one pool; in use are reserved addresses too, if they were asked for. */
  poolStatistics(name: string): FamilyStatistics | undefined {
    const pool = this.#pools.get(name)
    if (pool === undefined) return undefined
    return statisticsOf(pool.free.union(pool.released), pool.members.intersect(this.#using))
  }

  #poolOf(address: A): Pool<A> | undefined {
    for (const pool of this.#pools.values()) if (pool.members.has(address)) return pool
    return undefined
  }

  #buildPools(named: Iterable<readonly [string, RangeSet<A>]>): void {
    for (const [name, members] of named) this.#pools.set(name, this.#freshPool(members))
    this.#rebuildDefaultPool()
  }

  #rebuildDefaultPool(): void {
    let members = this.#layout.usable
    for (const [name, pool] of this.#pools) if (name !== defaultPool) members = members.minus(pool.members)
    this.#pools.set(defaultPool, this.#freshPool(members))
  }

  #freshPool(members: RangeSet<A>): Pool<A> {
    const { space, usable, reserved } = this.#layout
    const free = members.intersect(usable).minus(this.#using).minus(reserved)
    return { members, free, released: RangeSet.in(space) }
  }
}

/** The owners among the holders, each once. */
export function ownersOf(holders: readonly Holder[]): readonly string[] {
  return [...new Set(holders.map((holder) => holder.owner))]
}

function statisticsOf<A extends Ip>(available: RangeSet<A>, using: RangeSet<A>): FamilyStatistics {
  return {
    available: available.size(),
    using: using.size(),
    availableRanges: available.toString(),
    usingRanges: using.toString(),
  }
}
