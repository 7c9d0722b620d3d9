import type { Ip, RangeSet } from '@kube-ovn/ip'
import { AddressSet } from './address-set.ts'
import type { FamilyLayout } from './family-layout.ts'

/** The name of the pool of all addresses that are in no named pool. */
export const defaultPool = ''

/**
 * A part of the addresses of a family, with its own order of hand-out.
 *
 * `free` and `released` are disjoint, and neither has an address that is held or reserved.
 */
export interface Pool<A extends Ip> {
  readonly name: string
  /** May list addresses that the subnet does not have; they are never free. Not changed in place. */
  readonly members: RangeSet<A>
  /** Not held since the last time that all were used up. */
  free: AddressSet<A>
  /** Given back; drawn only when nothing is free, so that an address is not reused early. */
  released: AddressSet<A>
}

export function forkPool<A extends Ip>({ name, members, free, released }: Pool<A>): Pool<A> {
  return { name, members, free: free.fork(), released: released.fork() }
}

/** A pool in which nothing has been released yet. */
export function freshPool<A extends Ip>(
  name: string,
  members: RangeSet<A>,
  { space, block, usable, reserved }: FamilyLayout<A>,
  held: RangeSet<A>,
): Pool<A> {
  const free = members.intersect(usable).minus(held).minus(reserved)
  return {
    name,
    members,
    free: AddressSet.of(space, block.first, free),
    released: new AddressSet(space, block.first),
  }
}

/** What of a pool can be drawn, now or once the rest is used up. */
export function availableIn<A extends Ip>({ free, released }: Pool<A>): RangeSet<A> {
  return released.isEmpty ? free.toRangeSet() : free.toRangeSet().union(released.toRangeSet())
}

/** Says which pool an address is in. Pools are disjoint, so their ranges can be searched as one list. */
export class PoolMap<A extends Ip> {
  readonly #spans: readonly {
    readonly first: A
    readonly last: A
    readonly pool: Pool<A>
  }[]

  constructor(pools: Iterable<Pool<A>>) {
    const spans = [...pools].flatMap((pool) => {
      return [...pool.members.ranges()].map(({ first, last }) => ({ first, last, pool }))
    })
    this.#spans = spans.sort((a, b) => (a.first < b.first ? -1 : 1))
  }

  poolOf(address: A): Pool<A> | undefined {
    let lower = 0
    let upper = this.#spans.length
    while (lower < upper) {
      const middle = (lower + upper) >>> 1
      const span = this.#spans[middle]
      if (span !== undefined && span.first <= address) lower = middle + 1
      else upper = middle
    }
    const span = this.#spans[lower - 1]
    return span !== undefined && address <= span.last ? span.pool : undefined
  }
}
