import { parseMac, type Mac } from '@kube-ovn/ip'
import { MacConflictError } from './errors.ts'
import { HashIndex } from './hash-index.ts'
import { ownersOf } from './lease.ts'
import type { MacSource } from './mac-source.ts'
import { isSameOwner, type Owner } from './owner.ts'
import { SubnetLease } from './subnet-lease.ts'

/** Far more than needed: a single collision among 46 random bits is already unlikely. */
const maxDraws = 64

/** Who holds which MAC address of a subnet. */
export class MacTable {
  readonly #subnet: string
  readonly #leases: HashIndex<Mac, SubnetLease>
  readonly gateway: Mac | undefined

  /** @param gateway the address of the router port, which nobody else may have */
  constructor(
    subnet: string,
    leases: HashIndex<Mac, SubnetLease> = new HashIndex(SubnetLease.byMac),
    gateway?: Mac,
  ) {
    this.#subnet = subnet
    this.#leases = leases
    this.gateway = gateway
  }

  fork(): MacTable {
    return new MacTable(this.#subnet, this.#leases.fork(), this.gateway)
  }

  /** The same leases beside another router port. */
  withGateway(gateway: Mac): MacTable {
    return new MacTable(this.#subnet, this.#leases, gateway)
  }

  /**
   * Reads the text and finds out whether a NIC of `owner` that has `held` may have it. Changes nothing.
   *
   * @throws InvalidMacError and MacConflictError
   */
  check(text: string, owner: Owner, shares: boolean, held: Mac | undefined): Mac {
    // What is held was parsed before, and is asked for again and again.
    if (text === held) return held
    const mac = parseMac(text)
    if (shares || mac === held) return mac
    if (mac !== this.gateway && !this.#leases.has(mac)) return mac
    const leases = this.#leases.all(mac)
    if (mac === this.gateway || leases.some((lease) => !isSameOwner(lease.owner, owner))) {
      throw new MacConflictError({ subnet: this.#subnet, mac, holders: ownersOf(leases) })
    }
    return mac
  }

  /** Makes up an address that nobody in the subnet has. Changes nothing. */
  choose(source: MacSource): Mac {
    let mac = source.next()
    for (let draw = 1; mac === this.gateway || this.#leases.has(mac); draw++) {
      if (draw === maxDraws) throw new MacConflictError({ subnet: this.#subnet, mac, holders: [] })
      mac = source.next()
    }
    return mac
  }

  holders(mac: Mac): readonly SubnetLease[] {
    return this.#leases.all(mac)
  }

  leases(): Iterable<SubnetLease> {
    return this.#leases.values()
  }

  /** Records a lease whose MAC address, if it has one, has been checked or chosen. */
  take(lease: SubnetLease): void {
    this.#leases.add(lease)
  }

  drop(lease: SubnetLease): void {
    this.#leases.remove(lease)
  }
}
