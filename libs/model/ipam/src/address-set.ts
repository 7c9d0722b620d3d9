import { RangeSet, type AddressSpace, type IpRange } from '@kube-ovn/ip'
import type { Ip } from '@kube-ovn/ip'
import type { Skipped } from './lease.ts'

/** Neighbouring addresses, a bit for each that is in the set. */
interface Page {
  /** The set that may write here; every other one copies the page first. */
  readonly writer: object | undefined
  /** 32 bits each: small integers, which an array holds without indirection. */
  readonly words: number[]
  /** A bit for each word that is not zero. */
  summary: number
}

const wordBits = 5
const wordSize = 1 << wordBits
const pageBits = 2 * wordBits
const pageSize = 1 << pageBits
const allBits = -1
/** How far from the first address there are pages: their list alone costs 8 KB for each set of that size. */
const pagedAddresses = 1 << 20

/** All addresses of a page; shared by all sets, as nobody may write it. */
const fullPage: Page = { writer: undefined, words: Array<number>(wordSize).fill(allBits), summary: allBits }

/**
 * A set of addresses of one block that single ones are added to and removed from all the time, anywhere.
 *
 * Close to the first address, where addresses are handed out, it is a bitmap: a change touches one bit, and the lowest
 * address is found by counting zeros. Pages that are full or empty cost nothing. What lies farther is a `RangeSet`, which
 * costs memory per range and not per address. A fork costs nothing until one of the two changes.
 */
export class AddressSet<A extends Ip> {
  readonly #space: AddressSpace<A>
  readonly #first: A
  readonly #far: RangeSet<A>
  #pages: (Page | undefined)[] = []
  /** How many addresses are in pages. */
  #paged = 0
  /** No page before this one has any. */
  #lowest = 0
  #writer: object = {}
  #sharesPages = false

  /** @param first the lowest address that will ever be in the set */
  constructor(space: AddressSpace<A>, first: A, far: RangeSet<A> = RangeSet.in(space)) {
    this.#space = space
    this.#first = first
    this.#far = far
  }

  static of<A extends Ip>(space: AddressSpace<A>, first: A, ranges: RangeSet<A>): AddressSet<A> {
    const set = new AddressSet(space, first)
    for (const range of ranges.ranges()) set.#addRange(range)
    return set
  }

  /** An independent set of the same addresses. */
  fork(): AddressSet<A> {
    const twin = new AddressSet(this.#space, this.#first, this.#far.clone())
    twin.#pages = this.#pages
    twin.#paged = this.#paged
    twin.#lowest = this.#lowest
    twin.#sharesPages = true
    this.#sharesPages = true
    this.#writer = {}
    return twin
  }

  get isEmpty(): boolean {
    return this.#paged === 0 && this.#far.isEmpty
  }

  has(ip: A): boolean {
    const offset = this.#space.offset(this.#first, ip)
    if (offset >= pagedAddresses) return this.#far.has(ip)
    const page = this.#pages[offset >>> pageBits]
    return page !== undefined && (wordOf(page, offset) & bitOf(offset)) !== 0
  }

  /** Adds one address; false when it was there. */
  add(ip: A): boolean {
    const offset = this.#space.offset(this.#first, ip)
    if (offset >= pagedAddresses) return this.#far.add(ip)
    const at = offset >>> pageBits
    const bit = bitOf(offset)
    const page = this.#writable(at)
    const word = wordOf(page, offset)
    if ((word & bit) !== 0) return false
    page.words[wordAt(offset)] = word | bit
    page.summary |= 1 << wordAt(offset)
    this.#paged++
    if (at < this.#lowest) this.#lowest = at
    return true
  }

  /** Removes one address; false when it was not there. */
  remove(ip: A): boolean {
    const offset = this.#space.offset(this.#first, ip)
    if (offset >= pagedAddresses) return this.#far.remove(ip)
    const at = offset >>> pageBits
    const bit = bitOf(offset)
    const known = this.#pages[at]
    // Looks first, so that removing what is not there copies nothing.
    if (known === undefined || (wordOf(known, offset) & bit) === 0) return false
    const page = this.#writable(at)
    const rest = wordOf(page, offset) & ~bit
    page.words[wordAt(offset)] = rest
    if (rest === 0) page.summary &= ~(1 << wordAt(offset))
    this.#paged--
    return true
  }

  /** The lowest address that is not in `skip`. */
  firstExcept(skip: Skipped): A | undefined {
    if (this.#paged > 0) {
      if (skip.size === 0) return this.#lowestPaged()
      for (const { first, last } of this.#pagedRanges()) {
        for (let offset = first; offset <= last; offset++) {
          const ip = this.#space.at(this.#first, offset)
          if (!skip.has(ip)) return ip
        }
      }
    }
    return this.#far.firstExcept(skip)
  }

  toRangeSet(): RangeSet<A> {
    const { at } = this.#space
    const ranges = RangeSet.in(this.#space)
    for (const { first, last } of this.#pagedRanges())
      ranges.addRange(at(this.#first, first), at(this.#first, last))
    for (const { first, last } of this.#far.ranges()) ranges.addRange(first, last)
    return ranges
  }

  /** There is one. */
  #lowestPaged(): A {
    const pages = this.#pages
    let at = this.#lowest
    let page = pages[at]
    while (page === undefined || page.summary === 0) page = pages[++at]
    this.#lowest = at
    const word = lowestBit(page.summary)
    const offset = (at << pageBits) + (word << wordBits) + lowestBit(page.words[word] ?? 0)
    return this.#space.at(this.#first, offset)
  }

  /** Neighbouring offsets in pages, in ascending order. */
  *#pagedRanges(): Generator<{ readonly first: number; readonly last: number }, void, undefined> {
    let first = -1
    for (const [at, page] of this.#pages.entries()) {
      if (page === fullPage && first >= 0) continue
      for (let index = 0; index < wordSize; index++) {
        const word = page?.words[index] ?? 0
        if (word === (first < 0 ? 0 : allBits)) continue
        const start = (at << pageBits) + (index << wordBits)
        for (let bit = 0; bit < wordSize; bit++) {
          const isIn = (word & (1 << bit)) !== 0
          if (isIn === first >= 0) continue
          if (isIn) {
            first = start + bit
          } else {
            yield { first, last: start + bit - 1 }
            first = -1
          }
        }
      }
    }
    if (first >= 0) yield { first, last: this.#pages.length * pageSize - 1 }
  }

  #addRange({ first, last }: IpRange<A>): void {
    const end = this.#space.offset(this.#first, last)
    let offset = this.#space.offset(this.#first, first)
    if (end >= pagedAddresses) {
      const start = offset < pagedAddresses ? this.#space.at(this.#first, pagedAddresses) : first
      this.#far.addRange(start, last)
    }
    while (offset <= end && offset < pagedAddresses) {
      if (offset % pageSize === 0 && offset + pageSize - 1 <= end) {
        this.#put(offset >>> pageBits, fullPage)
        this.#paged += pageSize
        offset += pageSize
      } else {
        this.add(this.#space.at(this.#first, offset))
        offset++
      }
    }
  }

  #writable(at: number): Page {
    const page = this.#pages[at]
    if (page?.writer === this.#writer) return page
    if (this.#sharesPages) {
      this.#pages = this.#pages.slice()
      this.#sharesPages = false
    }
    const words = page === undefined ? Array<number>(wordSize).fill(0) : page.words.slice()
    const copy: Page = { writer: this.#writer, words, summary: page?.summary ?? 0 }
    this.#put(at, copy)
    return copy
  }

  /** Leaves no holes, so that the list stays an array with fast elements. */
  #put(at: number, page: Page): void {
    while (this.#pages.length < at) this.#pages.push(undefined)
    this.#pages[at] = page
  }
}

function wordAt(offset: number): number {
  return (offset >>> wordBits) & (wordSize - 1)
}

function wordOf(page: Page, offset: number): number {
  return page.words[wordAt(offset)] ?? 0
}

function bitOf(offset: number): number {
  return 1 << (offset & (wordSize - 1))
}

/** Where the lowest bit is that is set; there is one. */
function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}
