import type { Family, Ip, Ipv4, Ipv6 } from './address.ts'

/** The arithmetic that differs between the families, so that algorithms are written once. */
export interface AddressSpace<A extends Ip> {
  readonly family: Family
  readonly bits: 32 | 128
  readonly lowest: A
  readonly highest: A
  /** The address after; the caller has made sure that it is not the highest. */
  next(ip: A): A
  /** The address before; the caller has made sure that it is not the lowest. */
  previous(ip: A): A
  /** How far `ip` is beyond `first`, which it is not below: exact up to 2^53. */
  offset(first: A, ip: A): number
  /** The address that is `offset` beyond `first`; the caller has made sure that there is one. */
  at(first: A, offset: number): A
  /** How many addresses lie between the two, both included. */
  count(first: A, last: A): bigint
  /** The first address of the prefix around `ip`. */
  network(ip: A, prefixLength: number): A
  /** The last address of the prefix around `ip`. */
  broadcast(ip: A, prefixLength: number): A
}

const highestIpv6 = (1n << 128n) - 1n

export const ipv4Space: AddressSpace<Ipv4> = {
  family: 4,
  bits: 32,
  lowest: 0 as Ipv4,
  highest: 0xffff_ffff as Ipv4,
  next: (ip) => (ip + 1) as Ipv4,
  previous: (ip) => (ip - 1) as Ipv4,
  offset: (first, ip) => ip - first,
  at: (first, offset) => (first + offset) as Ipv4,
  count: (first, last) => BigInt(last - first + 1),
  // Plain arithmetic: shifting a 32-bit number by 32 does nothing in JavaScript.
  network: (ip, prefixLength) => (ip - (ip % 2 ** (32 - prefixLength))) as Ipv4,
  broadcast: (ip, prefixLength) =>
    (ip - (ip % 2 ** (32 - prefixLength)) + 2 ** (32 - prefixLength) - 1) as Ipv4,
}

export const ipv6Space: AddressSpace<Ipv6> = {
  family: 6,
  bits: 128,
  lowest: 0n as Ipv6,
  highest: highestIpv6 as Ipv6,
  next: (ip) => (ip + 1n) as Ipv6,
  previous: (ip) => (ip - 1n) as Ipv6,
  offset: (first, ip) => Number(ip - first),
  at: (first, offset) => (first + BigInt(offset)) as Ipv6,
  count: (first, last) => last - first + 1n,
  network: (ip, prefixLength) => (ip & ~hostMask(prefixLength)) as Ipv6,
  broadcast: (ip, prefixLength) => (ip | hostMask(prefixLength)) as Ipv6,
}

function hostMask(prefixLength: number): bigint {
  return (1n << BigInt(128 - prefixLength)) - 1n
}
