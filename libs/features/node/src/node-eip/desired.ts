import { contains, parseCidr, parseIp } from '@kube-ovn/ip'
import type { NodeEipSnapshot } from './snapshot.ts'

/** The NIC in its namespace, as upstream names it. */
export const nodeEipLink = 'ovnext0'

/** A NIC of the node in a network namespace of its own, by which the node forwards what routers of VPCs send it. */
export interface GatewayNic {
  readonly link: string
  readonly mac: string
  /** Bytes. */
  readonly mtu: number
  /** With prefix length. */
  readonly addresses: readonly string[]
  /** To whom all is forwarded, at most one of each family. */
  readonly gateways: readonly string[]
  readonly checksGateways: boolean
  /** Who asks by BFD whether the NIC lives, sorted. */
  readonly routers: readonly string[]
  readonly disablesTxChecksumOffload: boolean
}

/** What has to be there of an OvnEip of the node. */
export interface DesiredNodeEip {
  readonly nic: GatewayNic
  /** Of the interface in Open vSwitch. */
  readonly externalIds: Readonly<Record<string, string>>
}

/** Addresses and gateways of a family that the Subnet has no prefix of lead nowhere, and are left out. */
export function desiredNodeEip(snapshot: NodeEipSnapshot): DesiredNodeEip {
  const { nodeName, addresses, mac, subnet, routers } = snapshot
  const prefixes = subnet.cidrs.map((text) => parseCidr(text))
  const placed = addresses.flatMap((text) => {
    const prefix = prefixes.find((cidr) => contains(cidr, parseIp(text)))
    return prefix === undefined ? [] : [`${text}/${prefix.prefixLength}`]
  })
  const hasFamilyOf = (text: string): boolean =>
    placed.some((cidr) => cidr.includes(':') === text.includes(':'))
  return {
    nic: {
      link: nodeEipLink,
      mac,
      mtu: subnet.mtu > 0 ? subnet.mtu : snapshot.mtu,
      addresses: placed,
      gateways: subnet.gateways.filter(hasFamilyOf),
      checksGateways: subnet.checksGateways,
      routers: routers.filter(hasFamilyOf).toSorted(),
      disablesTxChecksumOffload: snapshot.hasUserspaceDatapath,
    },
    externalIds: { 'iface-id': nodeName, ip: addresses.join(',') },
  }
}

/** What there is of a NIC that was made. */
export interface MadeNic {
  /** The host's end of it, a port of the integration bridge. */
  readonly hostEnd: string
  /** Of the NIC all of whose gateways have answered; absent before they have. */
  readonly answered: string | undefined
}

/** Tells NICs apart whose gateways are asked anew. */
export function identityOf({ mac, addresses, gateways }: GatewayNic): string {
  return [mac, ...addresses, 'via', ...gateways].join(' ')
}
