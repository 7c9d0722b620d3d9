import { ipBytes, macBytes, parseIpv6, parseMac, type Ipv6 } from '@kube-ovn/ip'
import { encodeFrame, etherType } from './ethernet.ts'

const allNodes = ipBytes(parseIpv6('ff02::1'))
const allNodesMac = Buffer.from('333300000001', 'hex')

/** Next header of IPv6: ICMPv6. */
const icmpv6 = 58
/** A packet that a router has passed on has less, and is no neighbour's. */
const hopLimit = 255
/** Type and code of a neighbour advertisement. */
const advertisement = Buffer.from([136, 0])
/** Neither from a router nor an answer; replaces what hosts know. */
const override = Buffer.from('20000000', 'hex')
/** Type of the option, and its length in units of eight bytes. */
const targetLinkLayerAddress = Buffer.from([2, 1])

/**
 * Makes the frame by which a host tells everybody on its link which MAC address its IPv6 address has.
 *
 * It comes from the link-local address that follows from the MAC address. A router of OVN, which knows all ports by itself, would
 * otherwise write a row of MAC_Binding for each host that announces itself.
 *
 * @see RFC 4861, sections 4.4 and 7.2.6
 */
export function encodeNeighbourAnnouncement(mac: string, ip: Ipv6): Buffer {
  const sender = macBytes(parseMac(mac))
  const source = linkLocal(sender)
  const message = Buffer.concat([
    advertisement,
    Buffer.alloc(2),
    override,
    ipBytes(ip),
    targetLinkLayerAddress,
    sender,
  ])
  message.writeUInt16BE(checksum(Buffer.concat([pseudoHeader(source, message.length), message])), 2)
  return encodeFrame(
    allNodesMac,
    sender,
    etherType.ipv6,
    Buffer.concat([header(source, message.length), message]),
  )
}

/** The address that a host makes of its MAC address (RFC 4291, appendix A). */
function linkLocal(mac: Buffer): Buffer {
  const bytes = Buffer.from('fe80000000000000000000fffe000000', 'hex')
  mac.copy(bytes, 8, 0, 3)
  mac.copy(bytes, 13, 3, 6)
  bytes.writeUInt8(bytes.readUInt8(8) ^ 0x02, 8)
  return bytes
}

function header(source: Buffer, payloadLength: number): Buffer {
  const fixed = Buffer.alloc(8)
  fixed.writeUInt8(6 << 4, 0)
  fixed.writeUInt16BE(payloadLength, 4)
  fixed.writeUInt8(icmpv6, 6)
  fixed.writeUInt8(hopLimit, 7)
  return Buffer.concat([fixed, source, allNodes])
}

/** What the checksum covers beside the message (RFC 8200, section 8.1). */
function pseudoHeader(source: Buffer, payloadLength: number): Buffer {
  const end = Buffer.alloc(8)
  end.writeUInt32BE(payloadLength, 0)
  end.writeUInt8(icmpv6, 7)
  return Buffer.concat([source, allNodes, end])
}

/** The checksum of the internet (RFC 1071), of an even number of bytes. */
function checksum(bytes: Buffer): number {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}
