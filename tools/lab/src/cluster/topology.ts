/** The address families of a cluster. */
export type Stack = 'dual' | 'ipv4' | 'ipv6'

/** What connects the pods: our chart, or the plain bridge plugin as a measure to compare with. */
export type PodNetwork = 'kube-ovn' | 'bridge'

/** What makes a node different from others. */
export interface NodeSpec {
  /** It hosts the OVN databases and the controller; several make a raft cluster. */
  readonly isMaster: boolean
  /** The label `topology.kubernetes.io/zone`. */
  readonly zone?: string
  /** NICs on the physical network. The first carries the node's address there and its default routes, others are bare. */
  readonly physicalNics: number
  readonly labels: Readonly<Record<string, string>>
}

export const plainNode: NodeSpec = { isMaster: false, physicalNics: 1, labels: {} }

/** What speaks BGP on the physical network. */
export type RoutingDaemon = 'frr' | 'bird'

export interface Topology {
  /** Distinguishes labs on one machine; part of the names of its containers and networks. */
  readonly id: string
  /** Called node-1, node-2 and so on. */
  readonly nodes: readonly NodeSpec[]
  readonly stack: Stack
  readonly podNetwork: PodNetwork
  /** VLANs of the physical network beside its untagged frames; the outside host is in each of them. */
  readonly vlans: readonly number[]
  /** Routers on the physical network, called router-1, router-2 and so on, that peer with each other and with every node that asks. */
  readonly routers: readonly RoutingDaemon[]
  /** Further networks of pods can be described, and Multus attaches them. */
  readonly hasNetworkAttachments: boolean
  /** What kube-proxy writes its rules with; none: there is no kube-proxy, and the chart serves Services. Not every kernel has IPVS. */
  readonly proxyMode: 'nftables' | 'iptables' | 'ipvs' | 'none'
  /** The id of a lab that this one sees: they have one tunnel network, and their physical networks are joined. */
  readonly sees?: string
  /** What pods get addresses from; labs that see each other have ranges of their own. */
  readonly podRange: AddressPair
  /** The lab outlives the process that made it. */
  readonly isKept: boolean
  /** The process that the lab is to end with. Default: the one that makes it. */
  readonly owner?: number
}

/** So many nodes, the first of which host the databases. */
export function plainNodes(count: number, masters = 1): NodeSpec[] {
  return Array.from({ length: count }, (_, index) => ({ ...plainNode, isMaster: index < masters }))
}

/** The default of upstream. */
const defaultPodRange: AddressPair = { ipv4: '10.16.0.0/16', ipv6: 'fd00:10:16::/112' }

/** What a lab takes that sees another with the default. */
export const secondPodRange: AddressPair = { ipv4: '10.24.0.0/16', ipv6: 'fd00:10:24::/112' }

export const defaultTopology: Topology = {
  id: 'lab',
  nodes: plainNodes(2),
  stack: 'dual',
  podNetwork: 'kube-ovn',
  vlans: [],
  routers: [],
  hasNetworkAttachments: false,
  proxyMode: 'nftables',
  podRange: defaultPodRange,
  isKept: false,
}

/** A pair of addresses of one interface. */
export interface AddressPair {
  readonly ipv4: string
  readonly ipv6: string
}

/**
 * The networks of a lab.
 *
 * `kubernetes` carries the API server and node addresses, `tunnel` is moved into `br-phy` and carries Geneve, so that a crash of
 * ovs-vswitchd does not cut a node off. Both are Docker networks. `physical` is a switch inside the outside host, because a Docker
 * network drops packets with a source that is not its own.
 */
export const networkNames = ['kubernetes', 'tunnel', 'physical'] as const
export type NetworkName = (typeof networkNames)[number]

/** The blocks of addresses that the networks of a lab are in: its own, and for tunnels that of the lab that it sees. */
export interface Blocks {
  readonly own: number
  readonly tunnel: number
}

/**
 * What all networks of all labs are cut from. Outside of what the engine gives to networks without a subnet of their own (172.17.0.0/16 to
 * 172.31.0.0/16 and 192.168.0.0/16): one such network takes a whole /16.
 */
export const labRanges: AddressPair = { ipv4: '10.172.0.0/16', ipv6: 'fd00:172:30::/48' }

/** Each lab takes one block, the first that does not overlap with another network of the machine. */
export const maxBlocks = 60

/** From 1, so that addresses are in canonical form as they are written here. */
const networkOffset: Record<NetworkName, number> = { kubernetes: 1, tunnel: 2, physical: 3 }

/** The subnets of a network of a lab. */
export function subnetsOf(blocks: Blocks, network: NetworkName): AddressPair {
  const index = indexOf(blocks, network)
  return { ipv4: `10.172.${index}.0/24`, ipv6: `fd00:172:30:${index}::/64` }
}

/** The address of host `host` in a network of a lab. */
export function addressesOf(blocks: Blocks, network: NetworkName, host: number): AddressPair {
  const index = indexOf(blocks, network)
  return { ipv4: `10.172.${index}.${host}`, ipv6: `fd00:172:30:${index}::${host.toString(16)}` }
}

function indexOf({ own, tunnel }: Blocks, network: NetworkName): number {
  return (network === 'tunnel' ? tunnel : own) * 4 + networkOffset[network]
}

/** Host numbers in the networks of a lab; 1 is Docker's own bridge. */
export const controlHost = 2
export const outsideHost = 254

/** The host number of the node with index `index`. Labs with one tunnel network must not have the same, as long as each has at most 100. */
export function nodeHost({ sees }: Pick<Topology, 'sees'>, index: number): number {
  return (sees === undefined ? 10 : 130) + index
}

/** The highest number for a node that comes later. */
export function topFreeHost({ sees, routers }: Topology): number {
  return sees === undefined ? routerHost(routers.length) : 229
}

/** The host number of the router with index `index`. */
export function routerHost(index: number): number {
  return outsideHost - 1 - index
}

export const maxVlanId = 4094

/** The address of host `host` in a VLAN of the physical network, which no other lab sees; the prefixes are /24 and /64. */
export function vlanAddresses(vlan: number, host: number): AddressPair {
  return {
    ipv4: `10.${128 + (vlan >> 8)}.${vlan & 255}.${host}`,
    ipv6: `fd00:10:128:${vlan}::${host.toString(16)}`,
  }
}

/** Join and service ranges are upstream's defaults. */
export const joinRange: AddressPair = { ipv4: '100.64.0.0/16', ipv6: 'fd00:100:64::/112' }
export const serviceRange: AddressPair = { ipv4: '10.96.0.0/12', ipv6: 'fd00:10:96::/112' }
export const apiServiceAddress: AddressPair = { ipv4: '10.96.0.1', ipv6: 'fd00:10:96::1' }
export const dnsServiceAddress: AddressPair = { ipv4: '10.96.0.10', ipv6: 'fd00:10:96::a' }
export const apiPort = 6443

/**
 * What stands for an address of the world, and its name. Of the ranges for documentation (RFC 5737, RFC 3849): the outside host, where every
 * default route ends, has it while somebody wants it to.
 */
export const worldAddress: AddressPair = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' }
export const worldName = 'world.example'

/** The members of a pair that a stack has, IPv4 first. */
export function ofStack(stack: Stack, pair: AddressPair): readonly string[] {
  switch (stack) {
    case 'dual':
      return [pair.ipv4, pair.ipv6]
    case 'ipv4':
      return [pair.ipv4]
    case 'ipv6':
      return [pair.ipv6]
  }
}

/** An address as it stands in a URL or before a port. */
export function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
