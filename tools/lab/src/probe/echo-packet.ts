import type { ProbeFamily } from './socket-address.ts'

/** Type numbers of echo requests and replies (RFC 792, RFC 4443). */
const echoTypes = {
  ipv4: { request: 8, reply: 0 },
  ipv6: { request: 128, reply: 129 },
} as const satisfies Record<ProbeFamily, { request: number; reply: number }>

export interface Echo {
  /** Tells the probes of one namespace apart. */
  readonly identifier: number
  readonly sequence: number
}

/** Writes an echo request; the kernel fills in the checksum of ICMPv6, which needs the addresses. */
export function encodeEchoRequest(family: ProbeFamily, { identifier, sequence }: Echo): Buffer {
  const packet = Buffer.alloc(64)
  packet.writeUInt8(echoTypes[family].request, 0)
  packet.writeUInt16BE(identifier, 4)
  packet.writeUInt16BE(sequence, 6)
  if (family === 'ipv4') packet.writeUInt16BE(internetChecksum(packet), 2)
  return packet
}

/**
 * Reads what a raw ICMP socket received, which for IPv4 begins with the IP header.
 *
 * @returns undefined for anything but an echo reply
 */
export function decodeEchoReply(family: ProbeFamily, packet: Buffer): Echo | undefined {
  const offset = family === 'ipv4' ? ((packet.at(0) ?? 0) & 0x0f) * 4 : 0
  if (packet.length < offset + 8 || packet[offset] !== echoTypes[family].reply) return undefined
  return { identifier: packet.readUInt16BE(offset + 4), sequence: packet.readUInt16BE(offset + 6) }
}

/** The sum of RFC 1071. */
export function internetChecksum(bytes: Buffer): number {
  let sum = 0
  for (let offset = 0; offset < bytes.length; offset += 2)
    sum += offset + 1 < bytes.length ? bytes.readUInt16BE(offset) : bytes.readUInt8(offset) << 8
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}
