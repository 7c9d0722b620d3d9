import {
  externalId,
  logicalRouter,
  portGroupAddressSetName,
  routerPolicyPriority,
  subnetGatewayPolicy,
  subnetNodePortGroup,
  subnetNodePortGroupName,
} from '@kube-ovn/ovn-names'
import { ipSourceSet, printMatch } from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'

/** A subnet with a distributed gateway, seen from one node. */
export interface GatewaySnapshot {
  readonly subnet: string
  readonly node: string
  readonly vpc: string
  /** The node's addresses in the nodes' network, of the families that the subnet has. Empty: not allocated yet. */
  readonly nextHops: readonly { readonly family: 4 | 6; readonly address: string }[]
}

/**
 * Computes how traffic of the subnet's pods on this node leaves the cluster: by way of the node itself.
 *
 * @see ovn-nb(5), Port_Group, Logical_Router_Policy
 */
export function desiredGateway(gateway: GatewaySnapshot): Desired {
  const { subnet, node } = gateway
  const group = subnetNodePortGroupName(subnet, node)
  const policies = gateway.nextHops.map(({ family, address }): OwnedRow => ({
    kind: subnetGatewayPolicy,
    id: `${subnet}/${node}/${family}`,
    columns: {
      priority: routerPolicyPriority.subnetGateway,
      match: printMatch(ipSourceSet(family, portGroupAddressSetName(group, family))),
      action: 'reroute',
      nexthops: [address],
      external_ids: externalIds({ [externalId.subnet]: subnet, [externalId.node]: node }),
    },
  }))
  return {
    ...nothing,
    rows: [
      {
        kind: subnetNodePortGroup,
        id: `${subnet}/${node}`,
        columns: {
          name: group,
          external_ids: externalIds({
            [externalId.subnet]: subnet,
            [externalId.node]: node,
            [externalId.networkPolicy]: `${subnet}/${node}`,
          }),
        },
      },
      ...policies,
    ],
    members: policies.map(({ kind, id }) =>
      memberOf(ref(logicalRouter, gateway.vpc), 'policies', ref(kind, id)),
    ),
  }
}
