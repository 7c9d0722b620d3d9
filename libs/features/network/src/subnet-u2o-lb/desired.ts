import {
  externalId,
  interconnectionPortGroup,
  interconnectionServicePolicy,
  logicalRouter,
  portGroupAddressSetName,
  routerPolicyPriority,
  subnetNodePortGroupName,
} from '@kube-ovn/ovn-names'
import { and, ipDestination, ipSourceSet, printMatch } from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'

/** An underlay subnet on which OVN does not balance, seen from one node. */
export interface ServiceRoutesSnapshot {
  readonly subnet: string
  readonly node: string
  readonly vpc: string
  /** Of addresses of Services, with the node's address in the nodes' network. */
  readonly prefixes: readonly {
    readonly family: 4 | 6
    readonly cidr: string
    readonly nextHop: string
  }[]
}

/**
 * Computes how pods of the subnet on this node reach Services: by way of the node, where kube-proxy serves them.
 *
 * @see ovn-nb(5), Port_Group, Logical_Router_Policy
 */
export function desiredServiceRoutes({ subnet, node, vpc, prefixes }: ServiceRoutesSnapshot): Desired {
  const group = subnetNodePortGroupName(subnet, node)
  const policies = prefixes.map(({ family, cidr, nextHop }): OwnedRow => ({
    kind: interconnectionServicePolicy,
    id: `${subnet}/${node}/${cidr}`,
    columns: {
      priority: routerPolicyPriority.interconnection,
      match: printMatch(
        and(ipSourceSet(family, portGroupAddressSetName(group, family)), ipDestination(cidr)),
      ),
      action: 'reroute',
      nexthops: [nextHop],
      external_ids: externalIds({
        [externalId.subnet]: subnet,
        [externalId.node]: node,
        [externalId.isU2ORoutePolicy]: 'true',
        [externalId.isU2OWithoutBalancer]: 'true',
        [externalId.serviceCidr]: cidr,
      }),
    },
  }))
  const ids = {
    [externalId.logicalRouter]: vpc,
    [externalId.logicalSwitch]: subnet,
    [externalId.isU2O]: 'true',
  }
  return {
    ...nothing,
    rows: [
      { kind: interconnectionPortGroup, id: group, columns: { name: group, external_ids: externalIds(ids) } },
      ...policies,
    ],
    members: policies.map(({ kind, id }) => memberOf(ref(logicalRouter, vpc), 'policies', ref(kind, id))),
  }
}
