import { CidrIndex, networkText } from '@kube-ovn/ip'
import type { Cidr } from '@kube-ovn/ip'
import { routerPortName, switchRouterPortName } from '@kube-ovn/ovn-names'
import { SubnetConflictError } from './errors.ts'
import { cidrsOf, type Network } from './network.ts'
import { firstInside, inside, type NodeAddress, type NodesByAddress } from './node-addresses.ts'

/** Prefixes and names of ports that networks have or are about to get. */
export class PlacesInUse {
  readonly #bySegment = new Map<string, CidrIndex<Network>>()
  readonly #byPort = new Map<string, Network>()

  add(network: Network): void {
    for (const segment of segmentsOf(network)) {
      const index = this.#bySegment.getOrInsertComputed(segment, () => new CidrIndex())
      for (const cidr of cidrsOf(network)) index.add(cidr, network)
    }
    for (const port of portsOf(network)) this.#byPort.getOrInsert(port, network)
  }

  /** Another subnet whose connection to its router has a port of the same name: `a` and `b-c`, or `a-b` and `c`. */
  withPortOf(network: Network): { readonly port: string; readonly subnet: string } | undefined {
    for (const port of portsOf(network)) {
      const other = this.#byPort.get(port)
      if (other !== undefined && other.name !== network.name)
        return { port: port.slice(port.indexOf(' ') + 1), subnet: other.name }
    }
    return undefined
  }

  /** A prefix of another subnet that the same router, or the same VLAN, has and that overlaps this one. */
  overlapping(network: Network, cidr: Cidr): { readonly cidr: Cidr; readonly subnet: string } | undefined {
    for (const segment of segmentsOf(network))
      for (const { cidr: block, value } of this.#bySegment.get(segment)?.overlapping(cidr) ?? [])
        if (value.name !== network.name) return { cidr: block, subnet: value.name }
    return undefined
  }
}

/** Where nobody else may have its addresses: at the router, and on the VLAN. Neither has names of the other. */
function segmentsOf({ vpc, vlan, isRouted, hasSwitch }: Network): readonly string[] {
  return [...(isRouted || !hasSwitch ? [`vpc ${vpc}`] : []), ...(vlan === '' ? [] : [`vlan ${vlan}`])]
}

/**
 * Finds what a network can not exist beside: another network of the same VPC, or of the same VLAN, whose prefix overlaps, or a node
 * whose own address lies in it (the router would keep that node's traffic). Nodes may be hosts of a physical network.
 */
export function findConflict(
  network: Network,
  inUse: PlacesInUse,
  nodes: NodesByAddress,
): SubnetConflictError | undefined {
  for (const cidr of cidrsOf(network)) {
    const conflict = overlapWith(network, cidr, inUse) ?? nodeInside(network, cidr, nodes)
    if (conflict !== undefined) return conflict
  }
  return samePort(network, inUse)
}

/** Nodes whose own addresses lie in a network. Nodes reach no other VPC. */
export function nodesInside(network: Network, nodes: NodesByAddress): readonly NodeAddress[] {
  return keepsNodes(network) ? cidrsOf(network).flatMap((cidr) => inside(cidr, nodes)) : []
}

function overlapWith(network: Network, cidr: Cidr, inUse: PlacesInUse): SubnetConflictError | undefined {
  const clash = inUse.overlapping(network, cidr)
  if (clash === undefined) return undefined
  return new SubnetConflictError({
    subnet: network.name,
    field: 'spec.cidrBlock',
    value: networkText(cidr),
    cure: `choose a prefix that does not overlap ${networkText(clash.cidr)} of subnet ${clash.subnet}`,
    conflictsWith: `Subnet/${clash.subnet}`,
  })
}

function samePort(network: Network, inUse: PlacesInUse): SubnetConflictError | undefined {
  const clash = inUse.withPortOf(network)
  if (clash === undefined) return undefined
  return new SubnetConflictError({
    subnet: network.name,
    field: 'metadata.name',
    value: network.name,
    cure: `choose another name: with its VPC it makes the name of a port, ${clash.port}, that subnet ${clash.subnet} has`,
    conflictsWith: `Subnet/${clash.subnet}`,
  })
}

/** Nodes reach the default VPC by its router alone, and addresses of a VLAN as hosts of it. */
function keepsNodes({ isDefaultVpc, vlan }: Network): boolean {
  return isDefaultVpc && vlan === ''
}

function portsOf({ name, vpc, hasSwitch }: Network): readonly string[] {
  return hasSwitch ? [`router ${routerPortName(vpc, name)}`, `switch ${switchRouterPortName(name, vpc)}`] : []
}

function nodeInside(network: Network, cidr: Cidr, nodes: NodesByAddress): SubnetConflictError | undefined {
  const found = keepsNodes(network) ? firstInside(cidr, nodes) : undefined
  if (found === undefined) return undefined
  const { node, address } = found
  return new SubnetConflictError({
    subnet: network.name,
    field: 'spec.cidrBlock',
    value: networkText(cidr),
    cure: `choose a prefix that does not contain the address ${address} of node ${node}`,
    conflictsWith: `Node/${node}`,
  })
}
