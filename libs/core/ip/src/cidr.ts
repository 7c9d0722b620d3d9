import { ipv4Space, ipv6Space, type AddressSpace } from './address-space.ts'
import {
  formatIp,
  isIpv4,
  isIpv6,
  tryParseIpv4,
  tryParseIpv6,
  type Ip,
  type Ipv4,
  type Ipv6,
} from './address.ts'
import { InvalidCidrError } from './errors.ts'

/** A prefix of one family, with the address as it was written: host bits are allowed. */
interface CidrOf<F extends 4 | 6, A extends Ip> {
  readonly family: F
  /** As written, e.g. 10.16.0.5 of `10.16.0.5/16`. */
  readonly address: A
  /** The first address of the prefix. */
  readonly network: A
  readonly prefixLength: number
}

export type CidrV4 = CidrOf<4, Ipv4>
export type CidrV6 = CidrOf<6, Ipv6>
export type Cidr = CidrV4 | CidrV6

/** Addresses from `first` to `last`, both included. */
export interface IpRange<A extends Ip> {
  readonly first: A
  readonly last: A
}

/**
 * Reads `address/prefixLength`, `undefined` when it is none.
 *
 * Host bits may be set. An IPv4-mapped IPv6 prefix is refused: Go reads it as a prefix of neither family.
 */
export function tryParseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  const digits = text.slice(slash + 1)
  if (slash < 0 || !/^\d+$/.test(digits)) return undefined
  const addressText = text.slice(0, slash)
  const prefixLength = Number(digits)
  const v4 = tryParseIpv4(addressText)
  if (v4 !== undefined) return prefixLength <= 32 ? cidrV4(v4, prefixLength) : undefined
  const v6 = tryParseIpv6(addressText)
  if (v6 === undefined || prefixLength > 128 || v6 >> 32n === 0xffffn) return undefined
  return cidrV6(v6, prefixLength)
}

/** Like {@link tryParseCidr}. @throws InvalidCidrError naming `field`. */
export function parseCidr(text: string, field = 'cidr'): Cidr {
  const cidr = tryParseCidr(text)
  if (cidr === undefined) {
    const cure = 'write an address and a prefix length, like 10.16.0.0/16 or fd00:10:16::/112'
    throw new InvalidCidrError({ field, value: text, cure })
  }
  return cidr
}

/** The prefix of this length around an address. */
export function cidrOf(address: Ip, prefixLength: number): Cidr {
  return isIpv4(address) ? cidrV4(address, prefixLength) : cidrV6(address, prefixLength)
}

function cidrV4(address: Ipv4, prefixLength: number): CidrV4 {
  return { family: 4, address, network: ipv4Space.network(address, prefixLength), prefixLength }
}

function cidrV6(address: Ipv6, prefixLength: number): CidrV6 {
  return { family: 6, address, network: ipv6Space.network(address, prefixLength), prefixLength }
}

/** Prints the prefix without host bits, e.g. `10.16.0.0/16`. */
export function networkText(cidr: Cidr): string {
  return `${formatIp(cidr.network)}/${cidr.prefixLength}`
}

/** Prints the address as it was written with its prefix length, e.g. `10.16.0.5/16`. */
export function cidrText(cidr: Cidr): string {
  return `${formatIp(cidr.address)}/${cidr.prefixLength}`
}

/** Whether both are the same prefix, whatever their host bits. */
export function sameNetwork(a: Cidr, b: Cidr): boolean {
  return a.network === b.network && a.prefixLength === b.prefixLength
}

/** Whether the address lies in the prefix; false for an address of the other family. */
export function contains(cidr: Cidr, ip: Ip): boolean {
  return cidr.family === 4
    ? isIpv4(ip) && ipv4Space.network(ip, cidr.prefixLength) === cidr.network
    : isIpv6(ip) && ipv6Space.network(ip, cidr.prefixLength) === cidr.network
}

/** Whether two prefixes have an address in common. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return a.prefixLength <= b.prefixLength ? contains(a, b.network) : contains(b, a.network)
}

/** All addresses of the prefix. */
export function blockRange(cidr: CidrV4): IpRange<Ipv4>
export function blockRange(cidr: CidrV6): IpRange<Ipv6>
export function blockRange(cidr: Cidr): IpRange<Ipv4> | IpRange<Ipv6>
export function blockRange(cidr: Cidr): IpRange<Ipv4> | IpRange<Ipv6> {
  return cidr.family === 4
    ? { first: cidr.network, last: ipv4Space.broadcast(cidr.network, cidr.prefixLength) }
    : { first: cidr.network, last: ipv6Space.broadcast(cidr.network, cidr.prefixLength) }
}

/** The first address of the prefix, host bits all zero. */
export function firstAddress(cidr: Cidr): Ip {
  return cidr.network
}

/** The last address of the prefix, host bits all one. */
export function lastAddress(cidr: Cidr): Ip {
  return blockRange(cidr).last
}

/**
 * The addresses that ports may have: all but the first and the last of the prefix.
 *
 * Point-to-point prefixes (/31 and /127) use both, host prefixes (/32 and /128) their only one. IPv6 has no
 * broadcast address, but Kube-OVN leaves its ends out too, and addresses already handed out depend on it.
 */
export function usableRange(cidr: CidrV4): IpRange<Ipv4>
export function usableRange(cidr: CidrV6): IpRange<Ipv6>
export function usableRange(cidr: Cidr): IpRange<Ipv4> | IpRange<Ipv6>
export function usableRange(cidr: Cidr): IpRange<Ipv4> | IpRange<Ipv6> {
  return cidr.family === 4
    ? inner(ipv4Space, blockRange(cidr), cidr.prefixLength)
    : inner(ipv6Space, blockRange(cidr), cidr.prefixLength)
}

function inner<A extends Ip>(space: AddressSpace<A>, block: IpRange<A>, prefixLength: number): IpRange<A> {
  if (prefixLength >= space.bits - 1) return block
  return { first: space.next(block.first), last: space.previous(block.last) }
}

/** How many addresses {@link usableRange} holds. */
export function usableCount(cidr: Cidr): bigint {
  return cidr.family === 4 ? count(ipv4Space, usableRange(cidr)) : count(ipv6Space, usableRange(cidr))
}

function count<A extends Ip>(space: AddressSpace<A>, range: IpRange<A>): bigint {
  return space.count(range.first, range.last)
}
