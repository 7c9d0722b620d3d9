import {
  formatIp,
  formatMac,
  ipBytes,
  macBytes,
  parseCidr,
  parseIp,
  parseMac,
  tryParseIpv6,
  type Ipv4,
  type Ipv6,
} from '@kube-ovn/ip'
import type { Family } from './types.ts'

/** AF_INET and AF_INET6: how messages say which family they are about. */
export const addressFamily = { ipv4: 2, ipv6: 10 } as const satisfies Record<Family, number>

export interface PrefixBytes {
  readonly family: Family
  readonly address: Buffer
  readonly length: number
}

export function familyOf(number: number): Family | undefined {
  return number === addressFamily.ipv4 ? 'ipv4' : number === addressFamily.ipv6 ? 'ipv6' : undefined
}

/** The family that an address in network order is of. */
export function familyOfBytes(address: Buffer): Family {
  return address.length === 4 ? 'ipv4' : 'ipv6'
}

/** Turns an address into network order bytes: 4 or 16. An IPv4-mapped IPv6 address stays IPv6, as the kernel lists it. */
export function encodeAddress(field: string, value: string): Buffer {
  return ipBytes(tryParseIpv6(value) ?? parseIp(value, field))
}

/** Turns `ADDRESS/LENGTH` into bytes. */
export function encodePrefix(field: string, value: string): PrefixBytes {
  const cidr = parseCidr(value, field)
  return {
    family: cidr.family === 4 ? 'ipv4' : 'ipv6',
    address: ipBytes(cidr.address),
    length: cidr.prefixLength,
  }
}

/** Writes 4 or 16 bytes as canonical text. */
export function decodeAddress(bytes: Buffer): string {
  return formatIp(
    bytes.length === 4
      ? (bytes.readUInt32BE(0) as Ipv4)
      : (((bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8)) as Ipv6),
  )
}

export function encodeMac(field: string, value: string): Buffer {
  return macBytes(parseMac(value, field))
}

export function decodeMac(bytes: Buffer): string {
  return formatMac(bytes)
}
