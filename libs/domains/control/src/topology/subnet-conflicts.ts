import { CidrIndex, networkText } from '@kube-ovn/ip'
import type { Cidr } from '@kube-ovn/ip'
import { SubnetConflictError } from './errors.ts'
import type { Network } from './network.ts'
import { firstInside, inside, type NodeAddress, type NodesByAddress } from './node-addresses.ts'

/** Prefixes that networks have or are about to get, by VPC. */
export class PrefixesInUse {
  readonly #byVpc = new Map<string, CidrIndex<Network>>()

  add(network: Network): void {
    const index = this.#byVpc.getOrInsertComputed(network.vpc, () => new CidrIndex())
    for (const cidr of cidrsOf(network)) index.add(cidr, network)
  }

  /** A prefix of another subnet in the same VPC that overlaps this one. */
  overlapping(
    { name, vpc }: Network,
    cidr: Cidr,
  ): { readonly cidr: Cidr; readonly subnet: string } | undefined {
    for (const { cidr: block, value } of this.#byVpc.get(vpc)?.overlapping(cidr) ?? [])
      if (value.name !== name) return { cidr: block, subnet: value.name }
    return undefined
  }
}

/**
 * Finds what a network can not exist beside: another network of the same VPC whose prefix overlaps, or a node
 * whose own address lies in it (the router would keep that node's traffic).
 */
export function findConflict(
  network: Network,
  inUse: PrefixesInUse,
  nodes: NodesByAddress,
): SubnetConflictError | undefined {
  for (const cidr of cidrsOf(network)) {
    const conflict = overlapWith(network, cidr, inUse) ?? nodeInside(network, cidr, nodes)
    if (conflict !== undefined) return conflict
  }
  return undefined
}

/** Nodes whose own addresses lie in a network. Nobody routes to addresses without a switch by way of us. */
export function nodesInside(network: Network, nodes: NodesByAddress): readonly NodeAddress[] {
  return network.hasSwitch ? cidrsOf(network).flatMap((cidr) => inside(cidr, nodes)) : []
}

function overlapWith(network: Network, cidr: Cidr, inUse: PrefixesInUse): SubnetConflictError | undefined {
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

function nodeInside(network: Network, cidr: Cidr, nodes: NodesByAddress): SubnetConflictError | undefined {
  const found = network.hasSwitch ? firstInside(cidr, nodes) : undefined
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

function cidrsOf(network: Network): readonly Cidr[] {
  return [network.cidrs.v4, network.cidrs.v6].filter((cidr) => cidr !== undefined)
}
