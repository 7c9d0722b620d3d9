import { formatIp, isIpv4, parseIp, type Ipv4, type Ipv6 } from '@kube-ovn/ip'

/** AF_INET and AF_INET6. */
export const addressFamilies = { ipv4: 2, ipv6: 10 } as const

export type ProbeFamily = keyof typeof addressFamilies

/** An address with the port that follows it; 0 where the protocol has none. */
export interface SocketAddress {
  readonly address: string
  readonly port: number
}

/** The family of an address written as text. */
export function familyOfText(address: string): ProbeFamily {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** Writes an address in network order: 4 or 16 bytes. */
export function addressBytes(address: string): Buffer {
  const ip = parseIp(address)
  const bytes = Buffer.alloc(isIpv4(ip) ? 4 : 16)
  if (isIpv4(ip)) bytes.writeUInt32BE(ip)
  else {
    bytes.writeBigUInt64BE(ip >> 64n, 0)
    bytes.writeBigUInt64BE(BigInt.asUintN(64, ip), 8)
  }
  return bytes
}

/** Writes a struct sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)). */
export function encodeSocketAddress({ address, port }: SocketAddress): Buffer {
  const bytes = addressBytes(address)
  const encoded = Buffer.alloc(bytes.length === 4 ? 16 : 28)
  encoded.writeUInt16LE(addressFamilies[familyOfText(address)], 0)
  encoded.writeUInt16BE(port, 2)
  bytes.copy(encoded, bytes.length === 4 ? 4 : 8)
  return encoded
}

/** Reads a struct sockaddr_in or sockaddr_in6; the address comes out in canonical form. */
export function decodeSocketAddress(encoded: Buffer): SocketAddress {
  const isV4 = encoded.readUInt16LE(0) === addressFamilies.ipv4
  const address = isV4
    ? formatIp(encoded.readUInt32BE(4) as Ipv4)
    : formatIp(((encoded.readBigUInt64BE(8) << 64n) | encoded.readBigUInt64BE(16)) as Ipv6)
  return { address, port: encoded.readUInt16BE(2) }
}
