import { ipv4Space, ipv6Space, type AddressSpace } from './address-space.ts'
import { formatIp, type Ip, type Ipv4, type Ipv6 } from './address.ts'
import type { IpRange } from './cidr.ts'
import { RangeList } from './range-list.ts'

/**
 * A mutable set of addresses of one family, kept as sorted ranges that neither overlap nor touch.
 *
 * Costs memory per range, not per address: a whole /8 or /64 is one range. Membership is a binary search,
 * the lowest address is at hand, and the algebra is one pass over both operands.
 */
export class RangeSet<A extends Ip> {
  readonly #space: AddressSpace<A>
  readonly #list: RangeList<A>

  private constructor(space: AddressSpace<A>, list: RangeList<A>) {
    this.#space = space
    this.#list = list
  }

  static v4(ranges: Iterable<IpRange<Ipv4>> = []): RangeSet<Ipv4> {
    return RangeSet.in(ipv4Space, ranges)
  }

  static v6(ranges: Iterable<IpRange<Ipv6>> = []): RangeSet<Ipv6> {
    return RangeSet.in(ipv6Space, ranges)
  }

  /** For code that is written once for both families. */
  static in<A extends Ip>(space: AddressSpace<A>, ranges: Iterable<IpRange<A>> = []): RangeSet<A> {
    const set = new RangeSet<A>(space, RangeList.empty())
    for (const { first, last } of ranges) set.addRange(first, last)
    return set
  }

  clone(): RangeSet<A> {
    return new RangeSet(this.#space, this.#list.clone())
  }

  get isEmpty(): boolean {
    return this.#list.length === 0
  }

  /** The lowest address. */
  get first(): A | undefined {
    return this.#list.first(0)
  }

  /** How many addresses there are. */
  size(): bigint {
    let total = 0n
    for (const { first, last } of this.ranges()) total += this.#space.count(first, last)
    return total
  }

  has(ip: A): boolean {
    const last = this.#list.last(this.#list.before(ip))
    return last !== undefined && ip <= last
  }

  /** The lowest address that is not in `skip`. */
  firstExcept(skip: Pick<ReadonlySet<Ip>, 'has'>): A | undefined {
    for (const { first, last } of this.ranges()) {
      for (let ip = first; ; ip = this.#space.next(ip)) {
        if (!skip.has(ip)) return ip
        if (ip === last) break
      }
    }
    return undefined
  }

  /** Adds one address; false when it was there. */
  add(ip: A): boolean {
    return this.addRange(ip, ip)
  }

  /** Adds all addresses from `first` to `last`; false when all were there. */
  addRange(first: A, last: A): boolean {
    if (last < first) throw new RangeError('a range must not end before it starts')
    const { lowest, highest } = this.#space
    // The ranges from `from` up to before `to` overlap the new one or touch it, and become one with it.
    const reachLow = first === lowest ? first : this.#space.previous(first)
    const reachHigh = last === highest ? last : this.#space.next(last)
    const before = this.#list.before(reachLow)
    const beforeLast = this.#list.last(before)
    const from = beforeLast !== undefined && beforeLast >= reachLow ? before : before + 1
    const to = this.#list.before(reachHigh) + 1
    const oldFirst = this.#list.first(from)
    const oldLast = this.#list.last(to - 1)
    if (from >= to || oldFirst === undefined || oldLast === undefined) {
      this.#list.replace(from, from, [{ first, last }])
      return true
    }
    if (to - from === 1 && oldFirst <= first && last <= oldLast) return false
    const merged = { first: oldFirst < first ? oldFirst : first, last: oldLast > last ? oldLast : last }
    this.#list.replace(from, to, [merged])
    return true
  }

  /** Removes one address; false when it was not there. */
  remove(ip: A): boolean {
    return this.removeRange(ip, ip)
  }

  /** Removes all addresses from `first` to `last`; false when none was there. */
  removeRange(first: A, last: A): boolean {
    if (last < first) throw new RangeError('a range must not end before it starts')
    const before = this.#list.before(first)
    const beforeLast = this.#list.last(before)
    const from = beforeLast !== undefined && beforeLast >= first ? before : before + 1
    const to = this.#list.before(last) + 1
    const oldFirst = this.#list.first(from)
    const oldLast = this.#list.last(to - 1)
    if (from >= to || oldFirst === undefined || oldLast === undefined) return false
    const rest: IpRange<A>[] = []
    if (oldFirst < first) rest.push({ first: oldFirst, last: this.#space.previous(first) })
    if (oldLast > last) rest.push({ first: this.#space.next(last), last: oldLast })
    this.#list.replace(from, to, rest)
    return true
  }

  /** The ranges in ascending order. The set must not change while they are read. */
  *ranges(): Generator<IpRange<A>, void, undefined> {
    for (let index = 0; ; index++) {
      const first = this.#list.first(index)
      const last = this.#list.last(index)
      if (first === undefined || last === undefined) return
      yield { first, last }
    }
  }

  union(other: RangeSet<A>): RangeSet<A> {
    return this.#combine(other, (inThis, inOther) => inThis || inOther)
  }

  minus(other: RangeSet<A>): RangeSet<A> {
    return this.#combine(other, (inThis, inOther) => inThis && !inOther)
  }

  intersect(other: RangeSet<A>): RangeSet<A> {
    return this.#combine(other, (inThis, inOther) => inThis && inOther)
  }

  equals(other: RangeSet<A>): boolean {
    if (this.#list.length !== other.#list.length) return false
    for (let index = 0; index < this.#list.length; index++) {
      if (this.#list.first(index) !== other.#list.first(index)) return false
      if (this.#list.last(index) !== other.#list.last(index)) return false
    }
    return true
  }

  /** Prints `a-b,c`; empty for the empty set. */
  toString(): string {
    const texts: string[] = []
    for (const { first, last } of this.ranges()) {
      texts.push(first === last ? formatIp(first) : `${formatIp(first)}-${formatIp(last)}`)
    }
    return texts.join(',')
  }

  /**
   * Decomposes the set into the fewest prefixes, ordered as text.
   *
   * Single addresses get a prefix length too (`10.0.0.1/32`).
   */
  toPrefixes(): readonly string[] {
    const texts: string[] = []
    for (const range of this.ranges()) {
      for (let first = range.first; ;) {
        const prefixLength = this.#widestPrefix(first, range.last)
        texts.push(`${formatIp(first)}/${prefixLength}`)
        const end = this.#space.broadcast(first, prefixLength)
        if (end === range.last) break
        first = this.#space.next(end)
      }
    }
    return texts.sort()
  }

  /** The shortest prefix that starts at `first` and does not pass `last`. */
  #widestPrefix(first: A, last: A): number {
    let prefixLength = this.#space.bits as number
    while (
      prefixLength > 0 &&
      this.#space.network(first, prefixLength - 1) === first &&
      this.#space.broadcast(first, prefixLength - 1) <= last
    ) {
      prefixLength--
    }
    return prefixLength
  }

  /** Sweeps over the ends of both sets and keeps the stretches where `keep` holds. */
  #combine(other: RangeSet<A>, keep: (inThis: boolean, inOther: boolean) => boolean): RangeSet<A> {
    const mine = new Sweep(this.#space, this.#list)
    const theirs = new Sweep(this.#space, other.#list)
    const list = RangeList.empty<A>()
    let open: A | undefined
    while (true) {
      const at = earlier(mine.boundary, theirs.boundary)
      if (at === undefined) break
      if (mine.boundary === at) mine.advance()
      if (theirs.boundary === at) theirs.advance()
      const wanted = keep(mine.isInside, theirs.isInside)
      if (wanted && open === undefined) open = at
      if (!wanted && open !== undefined) {
        list.append(open, this.#space.previous(at))
        open = undefined
      }
    }
    if (open !== undefined) list.append(open, this.#space.highest)
    return new RangeSet(this.#space, list)
  }
}

function earlier<A extends Ip>(a: A | undefined, b: A | undefined): A | undefined {
  if (a === undefined) return b
  return b === undefined || a <= b ? a : b
}

/** Walks over the boundaries of a set: the addresses at which membership changes. */
class Sweep<A extends Ip> {
  readonly #space: AddressSpace<A>
  readonly #list: RangeList<A>
  #index = 0
  isInside = false
  /** The next address whose membership differs from the one before; none past the highest address. */
  boundary: A | undefined

  constructor(space: AddressSpace<A>, list: RangeList<A>) {
    this.#space = space
    this.#list = list
    this.boundary = list.first(0)
  }

  advance(): void {
    this.isInside = !this.isInside
    if (this.isInside) {
      const last = this.#list.last(this.#index++)
      this.boundary = last === undefined || last === this.#space.highest ? undefined : this.#space.next(last)
    } else {
      this.boundary = this.#list.first(this.#index)
    }
  }
}
