import { subnetResource } from '@kube-ovn/kube-api'
import { centralGatewayPolicy, externalId, logicalRouter, routerPolicyPriority } from '@kube-ovn/ovn-names'
import { ipSource, printMatch } from '@kube-ovn/ovn-match'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import type { PublishedEgress } from '@kube-ovn/domains-control/topology'

/** How traffic of a subnet leaves the cluster. */
export interface EgressSnapshot {
  readonly subnet: string
  readonly vpc: string
  readonly families: readonly EgressFamily[]
  /** What the status says; absent while the specification can not be used, which leaves what it said before. */
  readonly status:
    { readonly active: string | undefined; readonly published: PublishedEgress | undefined } | undefined
}

/** The share of one address family. */
interface EgressFamily {
  readonly family: 4 | 6
  readonly cidr: string
  /** Of the nodes by way of which traffic leaves, in the nodes' network. */
  readonly nextHops: readonly { readonly node: string; readonly address: string }[]
}

const ownKeys: ReadonlySet<string> = new Set(Object.values(externalId))

/**
 * Computes the policies that lead traffic of a subnet to its gateway nodes, and what its status tells the nodes of it.
 *
 * @see ovn-nb(5), Logical_Router_Policy
 */
export function desiredEgress(egress: EgressSnapshot): Desired {
  const { subnet, vpc } = egress
  const policies = egress.families
    .filter(({ nextHops }) => nextHops.length > 0)
    .map(({ family, cidr, nextHops }): OwnedRow => ({
      kind: centralGatewayPolicy,
      id: `${subnet}/${family}`,
      columns: {
        priority: routerPolicyPriority.subnetGateway,
        match: printMatch(ipSource(cidr)),
        action: 'reroute',
        nexthops: nextHops.map(({ address }) => address),
        external_ids: externalIds({
          // A node may be called like a key that means something.
          ...Object.fromEntries(
            nextHops.filter(({ node }) => !ownKeys.has(node)).map(({ node, address }) => [node, address]),
          ),
          [externalId.subnet]: subnet,
        }),
      },
    }))
  return {
    ...nothing,
    rows: policies,
    members: policies.map(({ kind, id }) => memberOf(ref(logicalRouter, vpc), 'policies', ref(kind, id))),
    patches: patchesOf(egress),
  }
}

function patchesOf({ subnet, status }: EgressSnapshot): Desired['patches'] {
  if (status === undefined) return []
  const { active, published } = status
  const egress = published === undefined ? null : { ...noEgress, ...published }
  const merge = { status: { activateGateway: active ?? null, egress } }
  return [{ resource: subnetResource, name: subnet, subresource: 'status', merge }]
}

/** Takes away what it said before. */
const noEgress = { gateways: null, active: null, nextHop: null, rulePriority: null, routeTable: null }
