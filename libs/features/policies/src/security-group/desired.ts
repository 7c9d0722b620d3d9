import { listText, problemText } from '@kube-ovn/errors'
import {
  complaintEvents,
  externalIds,
  memberOf,
  ref,
  withComplaints,
  type Complaint,
} from '@kube-ovn/domains-control'
import { aclRow } from '@kube-ovn/domains-control/policies'
import {
  conditionType,
  securityGroupReason,
  securityGroupResource,
  withObservedGeneration,
  type SecurityGroupRule,
} from '@kube-ovn/kube-api'
import {
  externalId,
  securityGroupAcl,
  groupAclId,
  securityGroupAddresses,
  securityGroupAddressSetName,
  securityGroupPortGroup,
} from '@kube-ovn/ovn-names'
import { isSyncedIn } from '@kube-ovn/policy'
import { nothing, type Desired, type KubeEvent, type KubePatch } from '@kube-ovn/reconcile'
import type { SecurityGroupSnapshot } from './snapshot.ts'

/**
 * Computes the port group of a SecurityGroup with its ACLs, and the sets of its members' addresses. Pods put their ports and addresses
 * into these themselves, in the transaction that makes the port.
 *
 * @param hashOf what the status says of rules
 * @see ovn-nb(5), Port_Group, ACL, Address_Set
 */
export function desiredSecurityGroup(
  snapshot: SecurityGroupSnapshot,
  hashOf: (rules: readonly SecurityGroupRule[]) => string,
): Desired {
  const { object, group } = snapshot
  const ids = { [externalId.securityGroup]: object.metadata.name }
  const acls = snapshot.acls.map((acl) =>
    aclRow(securityGroupAcl, groupAclId(group, acl), acl, { [externalId.parent]: group }),
  )
  return {
    ...nothing,
    rows: [
      {
        kind: securityGroupPortGroup,
        id: group,
        columns: { name: group, external_ids: externalIds({ [externalId.type]: 'security_group', ...ids }) },
      },
      ...([4, 6] as const).map((family) => {
        const name = securityGroupAddressSetName(group, family)
        return { kind: securityGroupAddresses, id: name, columns: { name, external_ids: externalIds(ids) } }
      }),
      ...acls,
    ],
    members: acls.map(({ id }) =>
      memberOf(ref(securityGroupPortGroup, group), 'acls', ref(securityGroupAcl, id)),
    ),
    patches: [statusPatch(snapshot, hashOf)],
    events: problemEvents(snapshot),
  }
}

function statusPatch(
  snapshot: SecurityGroupSnapshot,
  hashOf: (rules: readonly SecurityGroupRule[]) => string,
): KubePatch {
  const { object, group, problems, observed, now } = snapshot
  const { ingressRules = [], egressRules = [], allowSameGroupTraffic = false } = object.spec ?? {}
  const [isIngressSynced, isEgressSynced] = [isSyncedIn('ingress', problems), isSyncedIn('egress', problems)]
  const before = object.status?.conditions ?? []
  const changed = withComplaints(before, complaintsOf(snapshot), now)
  const conditions = withObservedGeneration(changed, observed.observedGeneration, now)
  const hasConditions = before.length > 0 || conditions.length > 0
  return {
    resource: securityGroupResource,
    name: object.metadata.name,
    subresource: 'status',
    merge: {
      status: {
        ...observed,
        portGroup: group,
        allowSameGroupTraffic,
        ingressMd5: isIngressSynced ? hashOf(ingressRules) : '',
        egressMd5: isEgressSynced ? hashOf(egressRules) : '',
        ingressLastSyncSuccess: isIngressSynced,
        egressLastSyncSuccess: isEgressSynced,
        ...(hasConditions ? { conditions: conditions.map((condition) => ({ ...condition })) } : {}),
      },
    },
  }
}

function complaintsOf({ problems }: SecurityGroupSnapshot): readonly Complaint[] {
  const texts = problems.map((problem) => problemText(problem))
  const complaint =
    texts.length === 0 ? undefined : { reason: securityGroupReason.invalid, message: listText(texts, '. ') }
  return [{ type: conditionType.validated, status: 'False', complaint }]
}

function problemEvents(snapshot: SecurityGroupSnapshot): readonly KubeEvent[] {
  const { metadata, status } = snapshot.object
  if (metadata.uid === undefined) return []
  const regarding = { resource: securityGroupResource, name: metadata.name, uid: metadata.uid }
  return complaintEvents(regarding, status?.conditions, complaintsOf(snapshot))
}
