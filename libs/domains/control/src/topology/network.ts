import { formatIp, formatIpList, networkText } from '@kube-ovn/ip'
import type { Cidr, DualStackCidr, DualStackIp, Family } from '@kube-ovn/ip'

/** A subnet that is in effect: what its valid specification means to ports, routes and policies. */
export interface Network {
  readonly name: string
  /** Empty for a subnet without a switch. */
  readonly vpc: string
  /** Nodes are connected to that one alone. */
  readonly isDefaultVpc: boolean
  /** Of the networks of pods that take their addresses here. */
  readonly provider: string
  /** Whether it is a switch of OVN. Otherwise it has addresses for NICs of other CNIs only. */
  readonly hasSwitch: boolean
  readonly cidrs: DualStackCidr
  readonly gateways: DualStackIp
  /** As in the specification: `v4`, `v6` or both separated by a comma. */
  readonly cidrBlock: string
  readonly gateway: string
  readonly excludeIps: readonly string[]
  /** Nodes give traffic of it that leaves the cluster their own address. */
  readonly natOutgoing: boolean
  /** Of NICs that nodes make from now on, bytes; 0 derives it from the tunnel. */
  readonly mtu: number
  /** The switch that the nodes' own ports are on. */
  readonly isJoin: boolean
  /** Name of the Vlan that its switch is on; empty for an overlay. */
  readonly vlan: string
  /** The router of the VPC has a port on its switch. Otherwise its gateway is a machine of the physical network. */
  readonly isRouted: boolean
  /** That port is beside the gateway, which is a machine of the physical network. */
  readonly isInterconnected: boolean
}

/** The share of one address family in a network. */
export interface NetworkFamily {
  readonly family: Family
  /** Prefix without host bits. */
  readonly cidr: string
  readonly gateway: string
  /** The gateway with the length of the prefix, as a router port has it. */
  readonly routerAddress: string
}

/** Gives the families of a network, IPv4 first. */
export function familiesOf({
  cidrs,
  gateways,
}: Pick<Network, 'cidrs' | 'gateways'>): readonly NetworkFamily[] {
  const families: NetworkFamily[] = []
  for (const [cidr, gateway] of [[cidrs.v4, gateways.v4] as const, [cidrs.v6, gateways.v6] as const]) {
    if (cidr === undefined || gateway === undefined) continue
    families.push({
      family: cidr.family,
      cidr: networkText(cidr),
      gateway: formatIp(gateway),
      routerAddress: `${formatIp(gateway)}/${cidr.prefixLength}`,
    })
  }
  return families
}

/** The prefixes of a network, that of IPv4 first. */
export function cidrsOf({ cidrs }: Pick<Network, 'cidrs'>): readonly Cidr[] {
  return [cidrs.v4, cidrs.v6].filter((cidr) => cidr !== undefined)
}

/** Whether two networks mean the same but for what only nodes go by, so that nothing else has to be looked at. */
export function isSameNetwork(a: Network, b: Network): boolean {
  return (
    a.vpc === b.vpc &&
    a.vlan === b.vlan &&
    a.isRouted === b.isRouted &&
    a.isInterconnected === b.isInterconnected &&
    a.provider === b.provider &&
    a.cidrBlock === b.cidrBlock &&
    a.gateway === b.gateway &&
    formatIpList(a.gateways) === formatIpList(b.gateways) &&
    a.excludeIps.join() === b.excludeIps.join()
  )
}
