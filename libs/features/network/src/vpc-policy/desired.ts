import { logicalRouter, vpcPolicy } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Member, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import type { VpcPolicy } from '@kube-ovn/domains-control/topology'

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
  const parts = policies.map((policy) => partsOf(vpc, policy))
  return { ...nothing, rows: parts.map(({ row }) => row), members: parts.map(({ member }) => member) }
}

interface PolicyParts {
  readonly vpc: string
  readonly row: OwnedRow
  readonly member: Member
}

/** Of the VPC that asked last. A policy is an object of its own as long as nobody edits it, and a VPC may have thousands. */
const known = new WeakMap<VpcPolicy, PolicyParts>()

function partsOf(vpc: string, policy: VpcPolicy): PolicyParts {
  const before = known.get(policy)
  if (before?.vpc === vpc) return before
  const { key, priority, match, action, nextHops } = policy
  const id = `${vpc}/${key}`
  const parts = {
    vpc,
    row: {
      ...{ kind: vpcPolicy, id },
      columns: { priority, match, action, nexthops: nextHops, external_ids: externalIds({}) },
    },
    member: memberOf(ref(logicalRouter, vpc), 'policies', ref(vpcPolicy, id)),
  }
  known.set(policy, parts)
  return parts
}
