import { formatIpList } from '@kube-ovn/ip'
import { subnetResource } from '@kube-ovn/kube-api'
import {
  externalId,
  interconnectionNodes,
  interconnectionNodesAddressSetName,
  interconnectionPolicy,
  logicalRouter,
  overlayCidrsAddressSetName,
  routerPolicyPriority,
} from '@kube-ovn/ovn-names'
import {
  and,
  ipDestination,
  ipDestinationSet,
  ipSource,
  ipSourceSet,
  printMatch,
  type Match,
} from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { desiredSubnetAddress, type SubnetAddress } from '@kube-ovn/domains-control/addresses'
import {
  familiesOf,
  type Interconnect,
  type Network,
  type NetworkFamily,
} from '@kube-ovn/domains-control/topology'

/** An underlay subnet that is connected to the router of its VPC, or was. */
export interface InterconnectionSnapshot {
  readonly subnet: string
  /** Absent where there is no connection any more. */
  readonly connected: { readonly network: Network; readonly interconnect: Interconnect } | undefined
  readonly address: SubnetAddress
  /** Whether the status says an address. */
  readonly saysAddress: boolean
  /** Whether the status says the address by which the router's port goes. */
  readonly isActive: boolean
  /** The nodes' own addresses. */
  readonly nodes: readonly string[]
}

/**
 * Computes what leads traffic of an underlay subnet that the router has a port on: to other subnets by the router, and all else by the
 * gateway of the physical network. The port itself is the subnet's, which goes by the address in the status.
 *
 * @see ovn-nb(5), Logical_Router_Policy, Address_Set
 */
export function desiredInterconnection(snapshot: InterconnectionSnapshot): Desired {
  const { subnet, connected, address, isActive } = snapshot
  const told = desiredSubnetAddress(subnet, address)
  const base = { ...nothing, ...told, patches: [...told.patches, ...statusOf(snapshot)] }
  if (connected === undefined || !isActive) return base
  const { network, interconnect } = connected
  const policies = familiesOf(network).flatMap((family) =>
    policiesOf(network, interconnect, family).map((policy) => policyRow(subnet, family, policy)),
  )
  return {
    ...base,
    rows: [...([4, 6] as const).map((family) => nodesRow(snapshot, family)), ...policies],
    members: policies.map(({ kind, id }) =>
      memberOf(ref(logicalRouter, network.vpc), 'policies', ref(kind, id)),
    ),
  }
}

interface Policy {
  readonly priority: number
  readonly match: Match
  /** Absent: it is routed inside. */
  readonly nextHop?: string
  readonly isOverlayOnly?: true
}

function policiesOf(
  { name, vpc, isDefaultVpc }: Network,
  { isOverlayOnly }: Interconnect,
  { family, cidr, gateway }: NetworkFamily,
): readonly Policy[] {
  const { subnetDestination, subnetGateway, interconnection, underlayExit, underlayItself } =
    routerPolicyPriority
  const nodes = interconnectionNodesAddressSetName(name, family)
  // Nodes are hosts of the physical network.
  const toNodes = {
    priority: subnetDestination,
    match: and(ipDestinationSet(family, nodes), ipSource(cidr)),
    nextHop: gateway,
  }
  if (isOverlayOnly) {
    const overlays = overlayCidrsAddressSetName(vpc, family)
    const fromOverlays = and(ipSourceSet(family, overlays), ipDestination(cidr))
    return [
      { ...toNodes, isOverlayOnly },
      { priority: underlayItself, match: and(ipSource(cidr), ipDestination(cidr)), isOverlayOnly },
      { priority: underlayExit, match: ipSource(cidr), nextHop: gateway },
      { priority: interconnection, match: fromOverlays, isOverlayOnly },
    ]
  }
  const exit = { priority: subnetGateway, match: ipSource(cidr), nextHop: gateway }
  return isDefaultVpc ? [toNodes, { priority: interconnection, match: ipDestination(cidr) }, exit] : [exit]
}

function policyRow(
  subnet: string,
  { family }: NetworkFamily,
  { priority, match, nextHop, isOverlayOnly }: Policy,
): OwnedRow {
  return {
    kind: interconnectionPolicy,
    id: `${subnet}/${priority}/${family}`,
    columns: {
      priority,
      match: printMatch(match),
      action: nextHop === undefined ? 'allow' : 'reroute',
      nexthops: nextHop === undefined ? [] : [nextHop],
      external_ids: {
        ...externalIds({ [externalId.subnet]: subnet, [externalId.isU2ORoutePolicy]: 'true' }),
        [externalId.isU2OOverlayOnly]: isOverlayOnly === true ? 'true' : undefined,
      },
    },
  }
}

function nodesRow({ subnet, nodes }: InterconnectionSnapshot, family: 4 | 6): OwnedRow {
  return {
    kind: interconnectionNodes,
    id: `${subnet}/${family}`,
    columns: {
      name: interconnectionNodesAddressSetName(subnet, family),
      addresses: nodes.filter((address) => address.includes(':') === (family === 6)),
      external_ids: externalIds({ [externalId.subnet]: subnet, [externalId.isU2ORoutePolicy]: 'true' }),
    },
  }
}

function statusOf({ subnet, connected, address, saysAddress }: InterconnectionSnapshot): Desired['patches'] {
  const { lease, object } = address
  if (object === undefined) return []
  const patch = (status: Readonly<Record<string, string>>): Desired['patches'] => [
    { resource: subnetResource, name: subnet, subresource: 'status', merge: { status } },
  ]
  if (connected === undefined)
    return saysAddress
      ? patch({ u2oInterconnectionIP: '', u2oInterconnectionMAC: '', u2oInterconnectionVPC: '' })
      : []
  if (lease === undefined) return []
  return patch({
    u2oInterconnectionIP: formatIpList(lease),
    u2oInterconnectionMAC: lease.mac ?? '',
    u2oInterconnectionVPC: connected.network.vpc,
  })
}
