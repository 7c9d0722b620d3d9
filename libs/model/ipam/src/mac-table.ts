import { formatMac, parseMac, type Mac } from '@kube-ovn/ip'
import { ownersOf, type Holder } from './address-table.ts'
import { MacConflictError } from './errors.ts'
import { ForkableMap } from './forkable-map.ts'

/** Far more than needed: a single collision among 46 random bits is already unlikely. */
const maxDraws = 64

/** Who holds which MAC address of a subnet. */
export class MacTable {
  readonly #subnet: string
  readonly #holders: ForkableMap<Mac, readonly Holder[]>
  readonly #gateway: Mac | undefined

  constructor(
    subnet: string,
    holders: ForkableMap<Mac, readonly Holder[]> = new ForkableMap(),
    gateway?: Mac,
  ) {
    this.#subnet = subnet
    this.#holders = holders
    this.#gateway = gateway
  }

  fork(): MacTable {
    return new MacTable(this.#subnet, this.#holders.fork(), this.#gateway)
  }

  /** The same holders beside another router port. */
  withGateway(gateway: Mac): MacTable {
    return new MacTable(this.#subnet, this.#holders, gateway)
  }

  /** The address of the router port, which nobody else may have. */
  get gateway(): Mac | undefined {
    return this.#gateway
  }

  /**
   * Reads the text and finds out whether a NIC of `owner` that has `held` may have it. Changes nothing.
   *
   * @throws InvalidMacError and MacConflictError
   */
  check(text: string, owner: string, shares: boolean, held: Mac | undefined): Mac {
    const mac = parseMac(text)
    if (shares || mac === held) return mac
    const holders = this.#holders.get(mac) ?? []
    if (mac === this.#gateway || holders.some((holder) => holder.owner !== owner)) {
      throw new MacConflictError({ subnet: this.#subnet, mac, holders: ownersOf(holders) })
    }
    return mac
  }

  /** Makes up a locally administered unicast address that nobody in the subnet has. Changes nothing. */
  choose(random: (bytes: number) => Uint8Array): Mac {
    let mac = localMac(random(6))
    for (let draw = 1; mac === this.#gateway || this.#holders.has(mac); draw++) {
      if (draw === maxDraws) throw new MacConflictError({ subnet: this.#subnet, mac, holders: [] })
      mac = localMac(random(6))
    }
    return mac
  }

  /** Records a holder of an address that has been checked or chosen. */
  take(mac: Mac, holder: Holder): void {
    const others = (this.#holders.get(mac) ?? []).filter(({ nic }) => nic !== holder.nic)
    this.#holders.set(mac, [...others, holder])
  }

  drop(mac: Mac, nic: string): void {
    const others = (this.#holders.get(mac) ?? []).filter((holder) => holder.nic !== nic)
    if (others.length > 0) this.#holders.set(mac, others)
    else this.#holders.delete(mac)
  }
}

/** Sets the locally administered bit and clears the multicast bit of the first byte. */
function localMac(bytes: Uint8Array): Mac {
  return formatMac(bytes.map((byte, index) => (index === 0 ? (byte | 0b10) & ~0b1 : byte)))
}
