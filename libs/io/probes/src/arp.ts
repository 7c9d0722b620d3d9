import { ipBytes, macBytes, parseMac, type Ipv4 } from '@kube-ovn/ip'
import { encodeFrame, etherType } from './ethernet.ts'

const broadcast = Buffer.alloc(6, 0xff)

/** Ethernet, IPv4, their lengths, and a request (RFC 826). */
const request = Buffer.from('0001080006040001', 'hex')

/**
 * Makes the frame by which a host tells everybody on its link which MAC address its IPv4 address has.
 *
 * It is a request for the own address, which no host answers and no responder either, as it comes from who has the address.
 *
 * @see RFC 5227, section 3
 */
export function encodeArpAnnouncement(mac: string, ip: Ipv4): Buffer {
  const sender = macBytes(parseMac(mac))
  const address = ipBytes(ip)
  const nobody = Buffer.alloc(6)
  const payload = Buffer.concat([request, sender, address, nobody, address])
  return encodeFrame(broadcast, sender, etherType.arp, payload)
}
