import { isIpv4, parseIp } from '@kube-ovn/ip'
import type { Netlink } from '@kube-ovn/netlink'
import { encodeArpAnnouncement } from './arp.ts'
import { encodeNeighbourAnnouncement } from './neighbour-advertisement.ts'

/** Whose addresses are announced, on which link. */
export interface Announcement {
  /** Of the link, in the namespace of the socket. */
  readonly index: number
  readonly mac: string
  /** IPv4 and IPv6, without prefix length. */
  readonly ips: readonly string[]
}

/**
 * Tells everybody on a link which MAC address some addresses have, so that who knows another one does not send there any more.
 *
 * One frame for each address, from the address itself: hosts that do not know it learn nothing by that, and answer nothing.
 *
 * @throws NetlinkError
 */
export function announceAddresses(
  namespace: Pick<Netlink, 'sendFrames'>,
  { index, mac, ips }: Announcement,
): void {
  const frames = ips
    .map((ip) => parseIp(ip))
    .map((ip) => (isIpv4(ip) ? encodeArpAnnouncement(mac, ip) : encodeNeighbourAnnouncement(mac, ip)))
  namespace.sendFrames(index, frames)
}
