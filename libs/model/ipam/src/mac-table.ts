import { parseMac, type Mac } from '@kube-ovn/ip'
import { MacConflictError } from './errors.ts'
import { hashNumber } from './hash.ts'
import { HashIndex } from './hash-index.ts'
import { distinct } from './lease.ts'
import type { LeaseRows } from './lease-rows.ts'
import { bitsOfMac, macText, type MacBits } from './mac-bits.ts'
import type { MacSource } from './mac-source.ts'
import { isSameOwner, type Owner } from './owner.ts'

/** Far more than needed: a single collision among 46 random bits is already unlikely. */
const maxDraws = 64

/** Who holds which MAC address of a subnet. */
export class MacTable {
  readonly #subnet: string
  readonly #index: HashIndex
  /** The address of the router port, which nobody else may have. */
  readonly #gateway: MacBits | undefined

  constructor(subnet: string, index = new HashIndex(), gateway?: MacBits) {
    this.#subnet = subnet
    this.#index = index
    this.#gateway = gateway
  }

  fork(): MacTable {
    return new MacTable(this.#subnet, this.#index.fork(), this.#gateway)
  }

  /** The same leases beside another router port. */
  withGateway(gateway: Mac | undefined): MacTable {
    return new MacTable(this.#subnet, this.#index, gateway && bitsOfMac(gateway))
  }

  get gateway(): Mac | undefined {
    return this.#gateway === undefined ? undefined : macText(this.#gateway)
  }

  /** Whether neither the router port has it nor any NIC. */
  isFree(mac: MacBits, rows: LeaseRows): boolean {
    return mac !== this.#gateway && !this.#has(mac, rows)
  }

  /**
   * Reads the text and finds out whether a NIC of `owner` that has `held` may have it. Changes nothing.
   *
   * @throws InvalidMacError and MacConflictError
   */
  check(text: string, owner: Owner, shares: boolean, held: MacBits | undefined, rows: LeaseRows): MacBits {
    const mac = bitsOfMac(parseMac(text))
    if (shares || mac === held) return mac
    if (this.isFree(mac, rows)) return mac
    const owners = this.holders(mac, rows).map((number) => rows.owner(number))
    if (mac === this.#gateway || owners.some((holder) => !isSameOwner(holder, owner))) {
      throw this.#conflict(mac, distinct(owners))
    }
    return mac
  }

  /** Makes up an address that nobody in the subnet has. Changes nothing. */
  choose(source: MacSource, rows: LeaseRows): MacBits {
    let mac = source.next()
    for (let draw = 1; !this.isFree(mac, rows); draw++) {
      if (draw === maxDraws) throw this.#conflict(mac, [])
      mac = source.next()
    }
    return mac
  }

  /** The leases that have the address, more than one if it is shared. */
  holders(mac: MacBits, rows: LeaseRows): readonly number[] {
    return this.#index.all(hashNumber(mac)).filter((number) => rows.mac(number) === mac)
  }

  /** Of all leases with a MAC address. */
  numbers(): Iterable<number> {
    return this.#index.values()
  }

  /** Records a lease whose MAC address, if it has one, has been checked or chosen. */
  take(mac: MacBits | undefined, number: number): void {
    if (mac !== undefined) this.#index.add(hashNumber(mac), number)
  }

  drop(mac: MacBits | undefined, number: number): void {
    if (mac !== undefined) this.#index.remove(hashNumber(mac), number)
  }

  #has(mac: MacBits, rows: LeaseRows): boolean {
    const hash = hashNumber(mac)
    let number = this.#index.first(hash)
    while (number !== 0 && rows.mac(number) !== mac) number = this.#index.next(hash, number)
    return number !== 0
  }

  #conflict(mac: MacBits, holders: readonly Owner[]): MacConflictError {
    return new MacConflictError({ subnet: this.#subnet, mac: macText(mac), holders })
  }
}
