import type { Ip } from '@kube-ovn/ip'

/** What a port that somebody else made has on a switch. */
export interface ForeignPort {
  readonly subnet: string
  readonly addresses: readonly Ip[]
}

/** The addresses of ports that somebody else put on the switches of subnets: nobody is given them meanwhile. */
export class ForeignAddresses {
  readonly #ports: Map<string, ForeignPort>

  constructor(ports: Iterable<readonly [string, ForeignPort]> = []) {
    this.#ports = new Map(ports)
  }

  /** Replaces what is known of a port, and returns it; nothing takes the place of a port that is gone or ours. */
  set(name: string, port: ForeignPort | undefined): ForeignPort | undefined {
    const before = this.#ports.get(name)
    if (port === undefined) this.#ports.delete(name)
    else this.#ports.set(name, port)
    return before
  }

  has(subnet: string, address: Ip): boolean {
    for (const port of this.#ports.values()) {
      if (port.subnet === subnet && port.addresses.includes(address)) return true
    }
    return false
  }

  fork(): ForeignAddresses {
    return new ForeignAddresses(this.#ports)
  }
}
