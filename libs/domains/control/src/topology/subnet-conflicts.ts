import { contains, networkText, overlaps, tryParseIp } from '@kube-ovn/ip'
import type { Cidr } from '@kube-ovn/ip'
import { SubnetConflictError } from './errors.ts'
import type { Network } from './network.ts'

export interface NodeAddress {
  readonly node: string
  readonly address: string
}

/**
 * Finds what a network can not exist beside: an older network of the same VPC whose prefix overlaps, or a node
 * whose own address lies in it (the router would keep that node's traffic).
 */
export function findConflict(
  network: Network,
  older: readonly Network[],
  nodeAddresses: readonly NodeAddress[],
): SubnetConflictError | undefined {
  for (const cidr of cidrsOf(network)) {
    const conflict = overlapWith(network, cidr, older) ?? nodeInside(network, cidr, nodeAddresses)
    if (conflict !== undefined) return conflict
  }
  return undefined
}

function overlapWith(
  network: Network,
  cidr: Cidr,
  older: readonly Network[],
): SubnetConflictError | undefined {
  for (const other of older) {
    if (other.vpc !== network.vpc) continue
    const clash = cidrsOf(other).find((block) => overlaps(block, cidr))
    if (clash === undefined) continue
    return new SubnetConflictError({
      subnet: network.name,
      field: 'spec.cidrBlock',
      value: networkText(cidr),
      cure: `choose a prefix that does not overlap ${networkText(clash)} of subnet ${other.name}`,
      conflictsWith: `Subnet/${other.name}`,
    })
  }
  return undefined
}

function nodeInside(
  network: Network,
  cidr: Cidr,
  nodeAddresses: readonly NodeAddress[],
): SubnetConflictError | undefined {
  // Nobody routes to addresses without a switch by way of us.
  if (!network.hasSwitch) return undefined
  for (const { node, address } of nodeAddresses) {
    const ip = tryParseIp(address)
    if (ip === undefined || !contains(cidr, ip)) continue
    return new SubnetConflictError({
      subnet: network.name,
      field: 'spec.cidrBlock',
      value: networkText(cidr),
      cure: `choose a prefix that does not contain the address ${address} of node ${node}`,
      conflictsWith: `Node/${node}`,
    })
  }
  return undefined
}

function cidrsOf(network: Network): readonly Cidr[] {
  return [network.cidrs.v4, network.cidrs.v6].filter((cidr) => cidr !== undefined)
}
