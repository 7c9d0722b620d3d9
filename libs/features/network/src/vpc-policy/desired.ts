import { logicalRouter, vpcPolicy } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { policyKey, type VpcPolicy } from '@kube-ovn/domains-control/topology'

/** What decides about the policies that a user gave a VPC. */
export interface PoliciesSnapshot {
  readonly vpc: string
  readonly policies: readonly VpcPolicy[]
}

/**
 * Computes the policies of a VPC's router.
 *
 * @see ovn-nb(5), Logical_Router_Policy
 */
export function desiredPolicies({ vpc, policies }: PoliciesSnapshot): Desired {
  const rows = policies.map((policy) => ({
    kind: vpcPolicy,
    id: `${vpc}/${policyKey(policy)}`,
    columns: {
      priority: policy.priority,
      match: policy.match,
      action: policy.action,
      nexthops: policy.nextHops,
      external_ids: externalIds({}),
    },
  }))
  return {
    ...nothing,
    rows,
    members: rows.map(({ kind, id }) => memberOf(ref(logicalRouter, vpc), 'policies', ref(kind, id))),
  }
}
