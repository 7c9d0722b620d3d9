import type { AddressSpace, Ip } from '@kube-ovn/ip'
import { HashIndex, type IndexKey } from './hash-index.ts'
import type { SubnetLease } from './subnet-lease.ts'

/** Neighbouring addresses: who has each. */
interface Page {
  /** The index that may write here; every other one copies the page first. */
  readonly writer: object
  readonly slots: (SubnetLease | readonly SubnetLease[] | undefined)[]
  used: number
}

const pageBits = 7
const pageSize = 1 << pageBits
/** How far from the first address there are pages; addresses are handed out from there, so few lie beyond. */
const pagedAddresses = 1 << 24

/**
 * Finds leases by address.
 *
 * Addresses are handed out lowest first, so those that are held lie close together: a page of them is found by
 * counting and not by searching. What lies far from the first address of the block is in a hash table.
 */
export class AddressIndex<A extends Ip> {
  readonly #space: AddressSpace<A>
  readonly #first: A
  readonly #key: IndexKey<A, SubnetLease>
  readonly #addressOf: (lease: SubnetLease) => A | undefined
  readonly #far: HashIndex<A, SubnetLease>
  #pages: (Page | undefined)[] = []
  #size = 0
  #writer: object = {}
  #sharesArray = false

  constructor(
    space: AddressSpace<A>,
    first: A,
    key: IndexKey<A, SubnetLease>,
    far: HashIndex<A, SubnetLease> = new HashIndex(key),
  ) {
    this.#space = space
    this.#first = first
    this.#key = key
    this.#addressOf = key.of
    this.#far = far
  }

  /** An independent index of the same leases. */
  fork(): AddressIndex<A> {
    const twin = new AddressIndex(this.#space, this.#first, this.#key, this.#far.fork())
    twin.#pages = this.#pages
    twin.#size = this.#size
    twin.#sharesArray = true
    this.#sharesArray = true
    this.#writer = {}
    return twin
  }

  /** An index of the same leases that counts from another address. */
  from(first: A): AddressIndex<A> {
    const moved = new AddressIndex(this.#space, first, this.#key)
    for (const lease of this.values()) moved.add(lease)
    return moved
  }

  get size(): number {
    return this.#size + this.#far.size
  }

  has(address: A): boolean {
    const offset = this.#offsetOf(address)
    if (offset < 0) return this.#far.has(address)
    return this.#pages[offset >>> pageBits]?.slots[offset & (pageSize - 1)] !== undefined
  }

  /** All leases of the address, in no particular order. */
  all(address: A): readonly SubnetLease[] {
    const offset = this.#offsetOf(address)
    if (offset < 0) return this.#far.all(address)
    const slot = this.#pages[offset >>> pageBits]?.slots[offset & (pageSize - 1)]
    return slot === undefined ? [] : isSeveral(slot) ? slot : [slot]
  }

  /** Adds a lease that is not in it yet; without an address it stays out. */
  add(lease: SubnetLease): void {
    const address = this.#addressOf(lease)
    if (address === undefined) return
    const offset = this.#offsetOf(address)
    if (offset < 0) {
      this.#far.add(lease)
      return
    }
    const page = this.#writable(offset >>> pageBits)
    const at = offset & (pageSize - 1)
    const slot = page.slots[at]
    page.slots[at] = slot === undefined ? lease : isSeveral(slot) ? [...slot, lease] : [slot, lease]
    page.used++
    this.#size++
  }

  /** Removes this very lease, which is in it. */
  remove(lease: SubnetLease): void {
    const address = this.#addressOf(lease)
    if (address === undefined) return
    const offset = this.#offsetOf(address)
    if (offset < 0) {
      this.#far.remove(lease)
      return
    }
    const pageAt = offset >>> pageBits
    const page = this.#writable(pageAt)
    const at = offset & (pageSize - 1)
    const slot = page.slots[at]
    if (slot === undefined) return
    const rest = isSeveral(slot) ? slot.filter((other) => other !== lease) : []
    page.slots[at] = rest.length > 1 ? rest : rest[0]
    page.used--
    this.#size--
    if (page.used === 0) this.#pages[pageAt] = undefined
  }

  /** In no particular order; the index must not change meanwhile. */
  *values(): Generator<SubnetLease, void, undefined> {
    for (const page of this.#pages) {
      for (const slot of page?.slots ?? []) {
        if (slot === undefined) continue
        if (isSeveral(slot)) yield* slot
        else yield slot
      }
    }
    yield* this.#far.values()
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
    const slots = page?.slots.slice() ?? Array.from<undefined>({ length: pageSize })
    const copy: Page = { writer: this.#writer, slots, used: page?.used ?? 0 }
    this.#pages[at] = copy
    return copy
  }
}

function isSeveral(slot: SubnetLease | readonly SubnetLease[]): slot is readonly SubnetLease[] {
  return Array.isArray(slot)
}
