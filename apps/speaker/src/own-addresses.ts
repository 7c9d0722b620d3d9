import { BgpConfigInvalidError, familyOfText, sourceAddress } from '@kube-ovn/bgp'
import type { Refused } from '@kube-ovn/errors'
import type { SpeakerConfig } from './config.ts'
import { canonical } from './neighbors.ts'

type OwnAddressConfig = Pick<
  SpeakerConfig,
  'allowedSourceAddresses' | 'allowedSourceIpv6Addresses' | 'nodeIps' | 'podIp' | 'podIps'
>

/** Which own address neighbours are spoken with from, and told as next hop: the kernel's routes say so, each time they are asked. */
export class OwnAddresses {
  readonly #config: OwnAddressConfig
  readonly #netns: string | undefined

  constructor(config: OwnAddressConfig, netns?: string) {
    this.#config = config
    this.#netns = netns
  }

  /**
   * The address to speak from.
   *
   * @throws BgpSocketError without a route, BgpConfigInvalidError for an address that is not allowed
   */
  sourceFor(neighbor: string): string {
    const source = sourceAddress(neighbor, this.#netns)
    const isIpv4 = familyOfText(neighbor) === 'ipv4'
    const { allowedSourceAddresses, allowedSourceIpv6Addresses } = this.#config
    const allowed = isIpv4 ? allowedSourceAddresses : allowedSourceIpv6Addresses
    // The kernel has one way to write an address, users have several.
    if (allowed.length === 0 || allowed.some((address) => canonical(address) === source)) return source
    throw new BgpConfigInvalidError({
      field: isIpv4 ? 'allowed-source-addresses' : 'allowed-source-ipv6-addresses',
      value: allowed.join(','),
      cure: `allow ${source}, from which the node's routes lead to ${neighbor}, or change the routes`,
    })
  }

  /** The next hop for routes. Where there is no way to the neighbour, nothing is said of it: whoever dials says why. */
  hopTo(neighbor: string): Hop | undefined {
    try {
      const source = this.sourceFor(neighbor)
      const { nodeIps, podIps, podIp } = this.#config
      const isOwn = source === podIp || podIps.includes(source)
      const family = familyOfText(source)
      const nextHop =
        (isOwn ? nodeIps.find((address) => familyOfText(address) === family) : undefined) ?? source
      return { nextHop, problem: undefined }
    } catch (error) {
      return error instanceof BgpConfigInvalidError
        ? { nextHop: undefined, problem: error.details }
        : undefined
    }
  }
}

/** A next hop, or why there is a way to the neighbour and yet none. */
export type Hop =
  | { readonly nextHop: string; readonly problem: undefined }
  | { readonly nextHop: undefined; readonly problem: Refused }
