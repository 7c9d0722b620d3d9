import {
  formatIp,
  formatMac,
  isIpv4,
  parseCidr,
  parseIp,
  parseMac,
  tryParseIpv6,
  type Ip,
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
  return toBytes(tryParseIpv6(value) ?? parseIp(value, field))
}

/** Turns `ADDRESS/LENGTH` into bytes. */
export function encodePrefix(field: string, value: string): PrefixBytes {
  const cidr = parseCidr(value, field)
  return {
    family: cidr.family === 4 ? 'ipv4' : 'ipv6',
    address: toBytes(cidr.address),
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
  return Buffer.from(parseMac(value, field).replaceAll(':', ''), 'hex')
}

export function decodeMac(bytes: Buffer): string {
  return formatMac(bytes)
}

function toBytes(ip: Ip): Buffer {
  if (isIpv4(ip)) {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(ip)
    return bytes
  }
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64BE(ip >> 64n, 0)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, ip), 8)
  return bytes
}
