import { cidrOf, formatIp, networkText, parseCidr, parseIp } from '@kube-ovn/ip'
import { decodeAddress, encodeAddress } from '@kube-ovn/netlink'
import type { AddressFamily } from './address-family.ts'
import type { ByteReader } from './byte-reader.ts'

const addressBytes = { ipv4: 4, ipv6: 16 } as const

/** Turns `10.16.0.0/16` into its length in bits and as many bytes as that takes (RFC 4271, section 4.3). */
export function encodePrefix(prefix: string): Buffer {
  const cidr = parseCidr(prefix)
  const address = encodeAddress('prefix', formatIp(cidr.network))
  const bytes = Buffer.alloc(1 + Math.ceil(cidr.prefixLength / 8))
  bytes.writeUInt8(cidr.prefixLength)
  address.copy(bytes, 1, 0, bytes.length - 1)
  return bytes
}

/** Reads one prefix; bits behind its length count for nothing. @throws the error of the reader, and that of `bad` for a length that is none */
function decodePrefix(family: AddressFamily, reader: ByteReader, bad: () => Error): string {
  const length = reader.uint8()
  if (length > addressBytes[family] * 8) throw bad()
  const address = Buffer.alloc(addressBytes[family])
  reader.take(Math.ceil(length / 8)).copy(address)
  return networkText(cidrOf(parseIp(decodeAddress(address)), length))
}

/** Reads prefixes up to the end. */
export function decodePrefixes(
  family: AddressFamily,
  reader: ByteReader,
  bad: () => Error,
): readonly string[] {
  const prefixes: string[] = []
  while (reader.left > 0) prefixes.push(decodePrefix(family, reader, bad))
  return prefixes
}
