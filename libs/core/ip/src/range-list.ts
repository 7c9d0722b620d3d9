import type { Ip } from './address.ts'
import type { IpRange } from './cidr.ts'

/**
 * Sorted disjoint ranges by index.
 *
 * Kept in two flat arrays with room at the front: what changes near either end moves little, and the lowest ranges,
 * which allocation uses up first, go without moving the rest.
 */
export class RangeList<A extends Ip> {
  readonly #firsts: A[]
  readonly #lasts: A[]
  /** Where the list starts in the arrays; what lies before is room. */
  #start = 0

  private constructor(firsts: A[], lasts: A[]) {
    this.#firsts = firsts
    this.#lasts = lasts
  }

  static empty<A extends Ip>(): RangeList<A> {
    return new RangeList<A>([], [])
  }

  clone(): RangeList<A> {
    return new RangeList(this.#firsts.slice(this.#start), this.#lasts.slice(this.#start))
  }

  get length(): number {
    return this.#firsts.length - this.#start
  }

  first(index: number): A | undefined {
    return index < 0 ? undefined : this.#firsts[this.#start + index]
  }

  last(index: number): A | undefined {
    return index < 0 ? undefined : this.#lasts[this.#start + index]
  }

  /** The index of the last range that starts at or before `ip`; -1 when there is none. */
  before(ip: A): number {
    const firsts = this.#firsts
    let low = this.#start
    let high = firsts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = firsts[middle]
      if (first !== undefined && first <= ip) low = middle + 1
      else high = middle
    }
    return low - 1 - this.#start
  }

  append(first: A, last: A): void {
    this.#firsts.push(first)
    this.#lasts.push(last)
  }

  /** Puts ranges in the place of those from index `from` up to before `to`. */
  replace(from: number, to: number, ranges: readonly IpRange<A>[]): void {
    const surplus = to - from - ranges.length
    if (from * headCost <= this.length - to && this.#start + surplus >= 0) {
      this.#moveHead(from, surplus)
      for (const [index, { first, last }] of ranges.entries()) {
        this.#firsts[this.#start + from + index] = first
        this.#lasts[this.#start + from + index] = last
      }
      return
    }
    const at = this.#start + from
    this.#firsts.splice(at, to - from, ...ranges.map(({ first }) => first))
    this.#lasts.splice(at, to - from, ...ranges.map(({ last }) => last))
  }

  /** Moves the first `count` ranges up by `distance`, or down when it is negative. */
  #moveHead(count: number, distance: number): void {
    if (distance !== 0) {
      for (const array of [this.#firsts, this.#lasts])
        array.copyWithin(this.#start + distance, this.#start, this.#start + count)
      this.#start += distance
    }
    // Gives room back once it is more than half of the arrays, so that it costs each change next to nothing.
    if (this.#start <= minRoom || this.#start <= this.length) return
    this.#firsts.splice(0, this.#start)
    this.#lasts.splice(0, this.#start)
    this.#start = 0
  }
}

/** How much longer `copyWithin` takes for an element than `splice` does. */
const headCost = 8

/** Room that is not worth giving back. */
const minRoom = 16
