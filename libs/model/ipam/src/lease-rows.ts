import type { Ipv4, Ipv6, Mac } from '@kube-ovn/ip'
import type { Lease } from './lease.ts'
import { hashText } from './hash.ts'
import { isHomeNic } from './home-nic.ts'
import { bitsOfMac, lowerBits, macBits, macOfBits, macText, upperBits, type MacBits } from './mac-bits.ts'
import type { Owner } from './owner.ts'

/** What a lease says, with what is to be known of its names, so that finding it again need not read them. */
export interface LeaseRow {
  readonly nic: string
  readonly nicHash: number
  readonly owner: Owner
  /** Whether it is found by its owner because of how the NIC is called. */
  readonly isHome: boolean
  readonly uid: string | undefined
  readonly subnet: string
  readonly v4: Ipv4 | undefined
  readonly v6: Ipv6 | undefined
  readonly mac: MacBits | undefined
  readonly isShared: boolean
}

/** The lease that a row says. */
export function leaseOf({ nic, owner, uid, subnet, v4, v6, mac, isShared }: LeaseRow): Lease {
  const macOrNone = mac === undefined ? undefined : macText(mac)
  return { nic, owner, uid, subnet, v4, v6, mac: macOrNone, isShared: isShared ? true : undefined }
}

/** The row that says a lease. */
export function rowOf({ nic, owner, uid, subnet, v4, v6, mac, isShared }: Lease): LeaseRow {
  return {
    ...{ nic, nicHash: hashText(nic), owner, isHome: isHomeNic(nic, owner), uid, subnet, v4, v6 },
    mac: mac === undefined ? undefined : bitsOfMac(mac as Mac),
    isShared: isShared === true,
  }
}

/** Some rows. A row is a few words, and a few references to what its owner has in memory anyway. */
interface Page {
  /** The store that may write here; every other one copies the page first. */
  readonly writer: object
  readonly words: Int32Array
  readonly references: (string | bigint | undefined)[]
}

const pageBits = 8
const pageRows = 1 << pageBits

/** Words of a row; the address of one that is free is the number of the next free one. */
const addressWord = 0
const nicHashWord = 1
const macWord = 2
/** The upper bits of the MAC address, and the flags above them. */
const flagsWord = 3
const rowWords = 4

const hasV4 = 1 << 16
const hasMac = 1 << 17
const isShared = 1 << 18
const isHome = 1 << 19

const nicReference = 0
const ownerReference = 1
const uidReference = 2
const subnetReference = 3
const v6Reference = 4
const rowReferences = 5

/**
 * All leases, by number.
 *
 * A lease is a row in a page and no object: one that is read is at most two lines of the memory, those that live long
 * give the garbage collector nothing to do, and a number finds it from every index. Numbers start at 1 and are used
 * again, the last one that became free first. Can be forked: both share all pages, and each copies a page when it first
 * writes there.
 */
export class LeaseRows {
  #writer: object = {}
  #pages: Page[] = []
  #sharesArray = false
  /** How many numbers there are, with 0, which stands for none. */
  #end = 1
  #firstFree = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** An independent store of the same leases, by the same numbers. */
  fork(): LeaseRows {
    const twin = new LeaseRows()
    twin.#pages = this.#pages
    twin.#end = this.#end
    twin.#firstFree = this.#firstFree
    twin.#size = this.#size
    twin.#sharesArray = true
    this.#sharesArray = true
    this.#writer = {}
    return twin
  }

  /** Answers the number of the lease from now on. */
  add(row: LeaseRow): number {
    const number = this.#firstFree === 0 ? this.#end++ : this.#firstFree
    const { words, references } = this.#writable(number)
    const word = wordOf(number)
    if (this.#firstFree !== 0) this.#firstFree = words[word + addressWord] ?? 0
    const { v4, mac } = row
    words[word + addressWord] = v4 ?? 0
    words[word + nicHashWord] = row.nicHash
    words[word + macWord] = mac === undefined ? 0 : lowerBits(mac)
    words[word + flagsWord] =
      (v4 === undefined ? 0 : hasV4) |
      (mac === undefined ? 0 : hasMac | upperBits(mac)) |
      (row.isShared ? isShared : 0) |
      (row.isHome ? isHome : 0)
    const reference = referenceOf(number)
    references[reference + nicReference] = row.nic
    references[reference + ownerReference] = row.owner
    references[reference + uidReference] = row.uid
    references[reference + subnetReference] = row.subnet
    references[reference + v6Reference] = row.v6
    this.#size++
    return number
  }

  /** Makes the number free for another lease. */
  remove(number: number): void {
    const { words, references } = this.#writable(number)
    words[wordOf(number) + addressWord] = this.#firstFree
    const reference = referenceOf(number)
    for (let at = reference; at < reference + rowReferences; at++) references[at] = undefined
    this.#firstFree = number
    this.#size--
  }

  /** The lease for whoever asked, who may keep it: it never changes. */
  lease(number: number): Lease {
    const { words, references } = this.#pageOf(number)
    const word = wordOf(number)
    const reference = referenceOf(number)
    const flags = words[word + flagsWord] ?? 0
    return {
      nic: references[reference + nicReference] as string,
      owner: references[reference + ownerReference] as Owner,
      uid: references[reference + uidReference] as string | undefined,
      subnet: references[reference + subnetReference] as string,
      v4: (flags & hasV4) === 0 ? undefined : (((words[word + addressWord] ?? 0) >>> 0) as Ipv4),
      v6: references[reference + v6Reference] as Ipv6 | undefined,
      mac: (flags & hasMac) === 0 ? undefined : macOfBits(flags & 0xffff, words[word + macWord] ?? 0),
      isShared: (flags & isShared) === 0 ? undefined : true,
    }
  }

  /** All of a lease, to be written down elsewhere. */
  row(number: number): LeaseRow {
    const { nic, owner, uid, subnet, v4, v6 } = this.lease(number)
    const [nicHash, isHome] = [this.nicHash(number), this.isHome(number)]
    const [mac, isShared] = [this.mac(number), this.isShared(number)]
    return { nic, nicHash, owner, isHome, uid, subnet, v4, v6, mac, isShared }
  }

  /** Whether the lease of the same NIC is what the row says. */
  says(number: number, { owner, uid, subnet, v4, v6, mac, isShared }: LeaseRow): boolean {
    return (
      this.v4(number) === v4 &&
      this.v6(number) === v6 &&
      this.mac(number) === mac &&
      this.owner(number) === owner &&
      this.uid(number) === uid &&
      this.subnet(number) === subnet &&
      this.isShared(number) === isShared
    )
  }

  nic(number: number): string {
    return this.#reference(number, nicReference) as string
  }

  owner(number: number): Owner {
    return this.#reference(number, ownerReference) as Owner
  }

  uid(number: number): string | undefined {
    return this.#reference(number, uidReference) as string | undefined
  }

  subnet(number: number): string {
    return this.#reference(number, subnetReference) as string
  }

  v4(number: number): Ipv4 | undefined {
    if ((this.#word(number, flagsWord) & hasV4) === 0) return undefined
    return (this.#word(number, addressWord) >>> 0) as Ipv4
  }

  v6(number: number): Ipv6 | undefined {
    return this.#reference(number, v6Reference) as Ipv6 | undefined
  }

  mac(number: number): MacBits | undefined {
    const flags = this.#word(number, flagsWord)
    return (flags & hasMac) === 0 ? undefined : macBits(flags & 0xffff, this.#word(number, macWord))
  }

  isShared(number: number): boolean {
    return (this.#word(number, flagsWord) & isShared) !== 0
  }

  nicHash(number: number): number {
    return this.#word(number, nicHashWord)
  }

  isHome(number: number): boolean {
    return (this.#word(number, flagsWord) & isHome) !== 0
  }

  /** Of all leases; nothing must change while they are read. */
  *numbers(): Generator<number, void, undefined> {
    for (let number = 1; number < this.#end; number++)
      if (this.#reference(number, nicReference) !== undefined) yield number
  }

  #word(number: number, word: number): number {
    return this.#pageOf(number).words[wordOf(number) + word] ?? 0
  }

  /** Each kind of reference is always of one type, which those who ask for it know. */
  #reference(number: number, reference: number): string | bigint | undefined {
    return this.#pageOf(number).references[referenceOf(number) + reference]
  }

  #pageOf(number: number): Page {
    const page = this.#pages[number >>> pageBits]
    if (page === undefined) throw new RangeError(`there never was a lease ${number}`)
    return page
  }

  #writable(number: number): Page {
    const at = number >>> pageBits
    const page = this.#pages[at]
    if (page?.writer === this.#writer) return page
    if (this.#sharesArray) {
      this.#pages = this.#pages.slice()
      this.#sharesArray = false
    }
    const words = page?.words.slice() ?? new Int32Array(pageRows * rowWords)
    const references = page?.references.slice() ?? Array.from<undefined>({ length: pageRows * rowReferences })
    const copy = { writer: this.#writer, words, references }
    this.#pages[at] = copy
    return copy
  }
}

function wordOf(number: number): number {
  return (number & (pageRows - 1)) * rowWords
}

function referenceOf(number: number): number {
  return (number & (pageRows - 1)) * rowReferences
}
