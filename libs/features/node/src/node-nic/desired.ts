import { cidrText, contains, formatIp, networkText, parseCidr, tryParseIp, type Cidr } from '@kube-ovn/ip'
import type { RouteRequest } from '@kube-ovn/netlink'
import { vendor } from '@kube-ovn/ovn-names'
import type { NodeNicSnapshot } from './snapshot.ts'

/** The node's interface on the join network; its name is a contract with users, policies and monitoring. */
export const nodeNicName = 'ovn0'

/** What ovn0 has to look like in Open vSwitch and in the kernel. */
export interface DesiredNodeNic {
  /** Columns of the Interface row. */
  readonly row: {
    readonly type: 'internal'
    /** Kept in the row too, so that vswitchd makes the device with the right address after a restart. */
    readonly mac: string
    readonly mtu_request: number
    readonly external_ids: Readonly<Record<string, string>>
  }
  readonly link: {
    readonly mac: string
    readonly txQueueLength: number
    /** With prefix length; the link-local one is derived from the MAC, as routers expect it. */
    readonly addresses: readonly string[]
    readonly disablesTxChecksumOffload: boolean
  }
  /** Without the index of the device. */
  readonly routes: readonly RouteRequest[]
}

/** RTPROT_KERNEL and RTPROT_STATIC of linux/rtnetlink.h, RT_SCOPE_LINK, and the metric of IPv6 prefix routes. */
const protocolKernel = 2
const protocolStatic = 4
const scopeLink = 253
const ipv6PrefixMetric = 256

export function desiredNodeNic(snapshot: NodeNicSnapshot): DesiredNodeNic {
  const { network, mtu } = snapshot
  const addresses = network.addresses.map((text) => parseCidr(text))
  const hasIpv6 = addresses.some((address) => address.family === 6)
  return {
    row: {
      type: 'internal',
      mac: network.mac,
      mtu_request: mtu,
      external_ids: {
        vendor,
        'iface-id': network.portName,
        ip: addresses.map((address) => formatIp(address.address)).join(','),
      },
    },
    link: {
      mac: network.mac,
      txQueueLength: 1000,
      addresses: [
        ...addresses.map((address) => cidrText(address)),
        ...(hasIpv6 ? [linkLocalAddress(network.mac)] : []),
      ],
      disablesTxChecksumOffload: snapshot.hasUserspaceDatapath,
    },
    routes: [...addresses.map((address) => joinRoute(address)), ...subnetRoutes(snapshot)],
  }
}

/** The kernel makes this route with the address; it is listed so that it comes back when somebody removes it. */
function joinRoute(address: Cidr): RouteRequest {
  const destination = networkText(address)
  return address.family === 4
    ? { destination, source: formatIp(address.address), scope: scopeLink, protocol: protocolKernel }
    : { destination, protocol: protocolKernel, metric: ipv6PrefixMetric }
}

/**
 * Routes to pods by way of the join gateway.
 *
 * The source is the node's own address, so that a pod sees the address that it knows the node by. A subnet that
 * contains an address of this node is left out: the node would lose its own network.
 */
function subnetRoutes(snapshot: NodeNicSnapshot): readonly RouteRequest[] {
  const own = snapshot.internalAddresses.map((text) => tryParseIp(text)).filter((ip) => ip !== undefined)
  const routes: RouteRequest[] = []
  for (const text of snapshot.subnets) {
    const cidr = parseCidr(text)
    const isV6 = cidr.family === 6
    const gateway = snapshot.network.gateways.find((candidate) => candidate.includes(':') === isV6)
    if (gateway === undefined || own.some((ip) => contains(cidr, ip))) continue
    const source = snapshot.internalAddresses.find((address) => address.includes(':') === isV6)
    routes.push({
      destination: networkText(cidr),
      gateway,
      protocol: protocolStatic,
      ...(source === undefined ? {} : { source }),
    })
  }
  return routes
}

/** Derives the link-local address from a MAC as RFC 4291, appendix A, says (modified EUI-64). */
export function linkLocalAddress(mac: string): string {
  const bytes = mac.split(':').map((part) => Number.parseInt(part, 16))
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes
  const groups = [((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f]
  const ip = tryParseIp(`fe80:0:0:0:${groups.map((group) => group.toString(16)).join(':')}`)
  return ip === undefined ? '' : `${formatIp(ip)}/64`
}
