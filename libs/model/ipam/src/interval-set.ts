import { RangeSet, type AddressSpace, type Ip, type IpRange } from '@kube-ovn/ip'

/** Neighbouring ranges, sorted, with at least one; ends at the same index belong together. */
interface Chunk<A extends Ip> {
  /** The set that may write here; every other one copies the chunk first. */
  readonly writer: object
  readonly firsts: A[]
  readonly lasts: A[]
}

const longestChunk = 128

/**
 * A set of addresses that single ones are added to and removed from all the time, anywhere.
 *
 * Like a `RangeSet` it costs memory per range and not per address. In addition a change costs the same wherever it
 * happens and however many ranges there are, and a fork costs nothing until one of the two changes.
 */
export class IntervalSet<A extends Ip> {
  readonly #space: AddressSpace<A>
  #chunks: Chunk<A>[] = []
  #writer: object = {}
  #sharesArray = false

  constructor(space: AddressSpace<A>) {
    this.#space = space
  }

  static of<A extends Ip>(space: AddressSpace<A>, ranges: RangeSet<A>): IntervalSet<A> {
    const set = new IntervalSet(space)
    let chunk: Chunk<A> | undefined
    for (const { first, last } of ranges.ranges()) {
      if (chunk === undefined || chunk.firsts.length === longestChunk) {
        chunk = { writer: set.#writer, firsts: [], lasts: [] }
        set.#chunks.push(chunk)
      }
      chunk.firsts.push(first)
      chunk.lasts.push(last)
    }
    return set
  }

  /** An independent set of the same addresses. */
  fork(): IntervalSet<A> {
    const twin = new IntervalSet(this.#space)
    twin.#chunks = this.#chunks
    twin.#sharesArray = true
    this.#sharesArray = true
    this.#writer = {}
    return twin
  }

  toRangeSet(): RangeSet<A> {
    return RangeSet.in(this.#space, this.ranges())
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  has(ip: A): boolean {
    const chunk = this.#chunks[this.#chunkBefore(ip)]
    const last = chunk?.lasts[indexBefore(chunk.firsts, ip)]
    return last !== undefined && ip <= last
  }

  /** The lowest address that is not in `skip`. */
  firstExcept(skip: ReadonlySet<Ip>): A | undefined {
    if (skip.size === 0) return this.#chunks[0]?.firsts[0]
    for (const { first, last } of this.ranges()) {
      for (let ip = first; ; ip = this.#space.next(ip)) {
        if (!skip.has(ip)) return ip
        if (ip === last) break
      }
    }
    return undefined
  }

  /** The ranges in ascending order; the set must not change meanwhile. */
  *ranges(): Generator<IpRange<A>, void, undefined> {
    for (const { firsts, lasts } of this.#chunks) {
      for (const [index, first] of firsts.entries()) {
        const last = lasts[index]
        if (last !== undefined) yield { first, last }
      }
    }
  }

  /** Adds one address; false when it was there. */
  add(ip: A): boolean {
    const at = this.#chunkBefore(ip)
    const before = this.#chunks[at]
    const index = before === undefined ? -1 : indexBefore(before.firsts, ip)
    const lowerLast = before?.lasts[index]
    if (lowerLast !== undefined && ip <= lowerLast) return false
    // The range above is the next one of the same chunk, or the first one of the next.
    const isLast = before === undefined || index + 1 === before.firsts.length
    const upperAt = isLast ? at + 1 : at
    const upperIndex = isLast ? 0 : index + 1
    const upperFirst = this.#chunks[upperAt]?.firsts[upperIndex]
    const joinsLower = lowerLast !== undefined && this.#space.next(lowerLast) === ip
    const joinsUpper = upperFirst !== undefined && this.#space.previous(upperFirst) === ip
    if (joinsLower) {
      const last = joinsUpper ? this.#removeRange(upperAt, upperIndex) : ip
      this.#writable(at).lasts[index] = last
    } else if (joinsUpper) {
      this.#writable(upperAt).firsts[upperIndex] = ip
    } else {
      this.#insert(at, index + 1, ip, ip)
    }
    return true
  }

  /** Removes one address; false when it was not there. */
  remove(ip: A): boolean {
    const at = this.#chunkBefore(ip)
    const chunk = this.#chunks[at]
    if (chunk === undefined) return false
    const index = indexBefore(chunk.firsts, ip)
    const first = chunk.firsts[index]
    const last = chunk.lasts[index]
    if (first === undefined || last === undefined || ip > last) return false
    if (first === last) this.#removeRange(at, index)
    else if (ip === first) this.#writable(at).firsts[index] = this.#space.next(ip)
    else {
      this.#writable(at).lasts[index] = this.#space.previous(ip)
      if (ip !== last) this.#insert(at, index + 1, this.#space.next(ip), last)
    }
    return true
  }

  /** The last chunk that starts at or before the address; -1 when there is none. */
  #chunkBefore(ip: A): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const first = this.#chunks[middle]?.firsts[0]
      if (first !== undefined && first <= ip) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Answers the last address of the range that it removes. */
  #removeRange(at: number, index: number): A {
    const { firsts, lasts } = this.#writable(at)
    const last = lasts[index]
    if (last === undefined) throw new RangeError('there is no such range')
    if (firsts.length === 1) {
      this.#chunks.splice(at, 1)
    } else {
      firsts.splice(index, 1)
      lasts.splice(index, 1)
    }
    return last
  }

  #insert(chunkAt: number, index: number, first: A, last: A): void {
    // What is lower than all others goes to the front of the first chunk.
    const at = Math.max(chunkAt, 0)
    if (this.#chunks.length === 0) {
      this.#ownArray().push({ writer: this.#writer, firsts: [first], lasts: [last] })
      return
    }
    const { firsts, lasts } = this.#writable(at)
    firsts.splice(index, 0, first)
    lasts.splice(index, 0, last)
    if (firsts.length <= longestChunk) return
    const half = firsts.length >>> 1
    const upper = { writer: this.#writer, firsts: firsts.splice(half), lasts: lasts.splice(half) }
    this.#chunks.splice(at + 1, 0, upper)
  }

  #writable(at: number): Chunk<A> {
    const chunks = this.#ownArray()
    const chunk = chunks[at]
    if (chunk === undefined) throw new RangeError('there is no such chunk')
    if (chunk.writer === this.#writer) return chunk
    const copy = { writer: this.#writer, firsts: chunk.firsts.slice(), lasts: chunk.lasts.slice() }
    chunks[at] = copy
    return copy
  }

  #ownArray(): Chunk<A>[] {
    if (this.#sharesArray) {
      this.#chunks = this.#chunks.slice()
      this.#sharesArray = false
    }
    return this.#chunks
  }
}

/** The last of the sorted addresses that is not above `ip`; -1 when there is none. */
function indexBefore<A extends Ip>(firsts: readonly A[], ip: A): number {
  let low = 0
  let high = firsts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const first = firsts[middle]
    if (first !== undefined && first <= ip) low = middle + 1
    else high = middle
  }
  return low - 1
}
