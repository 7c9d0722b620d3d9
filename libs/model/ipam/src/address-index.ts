import type { AddressSpace, Ip } from '@kube-ovn/ip'
import { HashIndex } from './hash-index.ts'
import type { LeaseRows } from './lease-rows.ts'

/** What leases are found by: their address of one family. */
export interface AddressKey<A extends Ip> {
  readonly of: (rows: LeaseRows, number: number) => A | undefined
  readonly hash: (address: A) => number
}

/** Neighbouring addresses: the number of the lease that has each, or 0. */
interface Page {
  /** The index that may write here; every other one copies the page first. */
  readonly writer: object
  readonly numbers: Int32Array
  used: number
}

const pageBits = 9
const pageSize = 1 << pageBits
/** How far from the first address there are pages; addresses are handed out from there, so few lie beyond. */
const pagedAddresses = 1 << 24

/**
 * Finds leases by address, and answers their numbers.
 *
 * Addresses are handed out lowest first, so those that are held lie close together: a page of them is found by
 * counting and not by searching. What lies far from the first address of the block is in a hash table, with what an
 * address has beyond its first lease.
 */
export class AddressIndex<A extends Ip> {
  readonly #space: AddressSpace<A>
  readonly #first: A
  readonly #key: AddressKey<A>
  readonly #rest: HashIndex
  #pages: (Page | undefined)[] = []
  #writer: object = {}
  #sharesArray = false

  constructor(space: AddressSpace<A>, first: A, key: AddressKey<A>, rest = new HashIndex()) {
    this.#space = space
    this.#first = first
    this.#key = key
    this.#rest = rest
  }

  /** An independent index of the same leases. */
  fork(): AddressIndex<A> {
    const twin = new AddressIndex(this.#space, this.#first, this.#key, this.#rest.fork())
    twin.#pages = this.#pages
    twin.#sharesArray = true
    this.#sharesArray = true
    this.#writer = {}
    return twin
  }

  /** An index of the same leases that counts from another address. */
  from(first: A, rows: LeaseRows): AddressIndex<A> {
    const moved = new AddressIndex(this.#space, first, this.#key)
    for (const number of this.numbers()) {
      const address = this.#key.of(rows, number)
      if (address !== undefined) moved.add(address, number, rows)
    }
    return moved
  }

  has(address: A, rows: LeaseRows): boolean {
    const offset = this.#offsetOf(address)
    return offset < 0 ? this.#restOf(address, rows).length > 0 : this.#at(offset) !== 0
  }

  /** All leases of the address, in no particular order. */
  all(address: A, rows: LeaseRows): readonly number[] {
    const offset = this.#offsetOf(address)
    const number = offset < 0 ? 0 : this.#at(offset)
    const rest = this.#restOf(address, rows)
    return number === 0 ? rest : [number, ...rest]
  }

  /** Adds a lease that is not in it yet; false if it is not the first of the address. */
  add(address: A, number: number, rows: LeaseRows): boolean {
    const offset = this.#offsetOf(address)
    if (offset < 0) {
      const isFirst = !this.has(address, rows)
      this.#rest.add(this.#key.hash(address), number)
      return isFirst
    }
    if (this.#at(offset) !== 0) {
      this.#rest.add(this.#key.hash(address), number)
      return false
    }
    const page = this.#writable(offset >>> pageBits)
    page.numbers[offset & (pageSize - 1)] = number
    page.used++
    return true
  }

  /** Removes a lease; false if the address has others. */
  remove(address: A, number: number, rows: LeaseRows): boolean {
    const offset = this.#offsetOf(address)
    if (offset < 0 || this.#at(offset) !== number) {
      this.#rest.remove(this.#key.hash(address), number)
      return !this.has(address, rows)
    }
    const heir = this.#rest.size === 0 ? 0 : (this.#restOf(address, rows)[0] ?? 0)
    const page = this.#writable(offset >>> pageBits)
    page.numbers[offset & (pageSize - 1)] = heir
    if (heir !== 0) {
      this.#rest.remove(this.#key.hash(address), heir)
      return false
    }
    page.used--
    if (page.used === 0) this.#pages[offset >>> pageBits] = undefined
    return true
  }

  /** Puts a lease of the address into the place of another. */
  replace(address: A, before: number, after: number): void {
    const offset = this.#offsetOf(address)
    if (offset >= 0 && this.#at(offset) === before) {
      this.#writable(offset >>> pageBits).numbers[offset & (pageSize - 1)] = after
      return
    }
    const hash = this.#key.hash(address)
    this.#rest.remove(hash, before)
    this.#rest.add(hash, after)
  }

  /** Of all leases, in no particular order; the index must not change meanwhile. */
  *numbers(): Generator<number, void, undefined> {
    for (const page of this.#pages) {
      for (const number of page?.numbers ?? []) if (number !== 0) yield number
    }
    yield* this.#rest.values()
  }

  #at(offset: number): number {
    return this.#pages[offset >>> pageBits]?.numbers[offset & (pageSize - 1)] ?? 0
  }

  #restOf(address: A, rows: LeaseRows): readonly number[] {
    if (this.#rest.size === 0) return []
    return this.#rest.all(this.#key.hash(address)).filter((number) => this.#key.of(rows, number) === address)
  }

  /** How far from the first address; negative when it is too far for a page. */
  #offsetOf(address: A): number {
    const offset = this.#space.offset(this.#first, address)
    return offset < pagedAddresses ? offset : -1
  }

  #writable(at: number): Page {
    const page = this.#pages[at]
    if (page?.writer === this.#writer) return page
    if (this.#sharesArray) {
      this.#pages = this.#pages.slice()
      this.#sharesArray = false
    }
    const numbers = page?.numbers.slice() ?? new Int32Array(pageSize)
    const copy = { writer: this.#writer, numbers, used: page?.used ?? 0 }
    this.#pages[at] = copy
    return copy
  }
}
