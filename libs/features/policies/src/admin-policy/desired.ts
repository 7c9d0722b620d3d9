import { problemText } from '@kube-ovn/errors'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { aclRow } from '@kube-ovn/domains-control/policies'
import type { Resource } from '@kube-ovn/kube'
import {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
} from '@kube-ovn/kube-api'
import {
  adminPolicyAcl,
  adminPolicyAddresses,
  adminPolicyGroupName,
  adminPolicyName,
  adminPolicyPortGroup,
  externalId,
  groupAclId,
  type AdminPolicyKind,
} from '@kube-ovn/ovn-names'
import { nothing, type Desired, type KubeEvent } from '@kube-ovn/reconcile'
import type { AdminPolicySnapshot } from './snapshot.ts'

/** The resources, by what stands for them in keys and names. */
export const adminResources: Readonly<Record<AdminPolicyKind, Resource>> = {
  anp: adminNetworkPolicyResource,
  banp: baselineAdminNetworkPolicyResource,
  cnp: clusterNetworkPolicyResource,
}

/**
 * Computes the port group of a policy of an administrator with its ACLs, and the address sets of its rules. Pods put their ports and
 * addresses into these themselves, in the transaction that makes the port.
 *
 * @see ovn-nb(5), Port_Group, ACL, Address_Set
 */
export function desiredAdminPolicy(snapshot: AdminPolicySnapshot): Desired {
  const { kind, name, group, rows } = snapshot
  const mark = { key: marks[kind], value: adminPolicyName(kind, name) }
  const acls = rows.acls.map((acl) =>
    aclRow(adminPolicyAcl, groupAclId(group, acl), acl, { [externalId.parent]: group }),
  )
  // Of a ClusterNetworkPolicy upstream writes the name of the group there.
  const groupMark = kind === 'cnp' ? adminPolicyGroupName(kind, name) : mark.value
  return {
    ...nothing,
    rows: [
      {
        kind: adminPolicyPortGroup,
        id: group,
        columns: { name: group, external_ids: externalIds({ [mark.key]: groupMark }) },
      },
      ...rows.sets.map(({ name: set, direction }) => ({
        kind: adminPolicyAddresses,
        id: set,
        columns: { name: set, external_ids: externalIds({ [mark.key]: `${mark.value}/${direction}` }) },
      })),
      ...acls,
    ],
    members: [
      ...acls.map(({ id }) => memberOf(ref(adminPolicyPortGroup, group), 'acls', ref(adminPolicyAcl, id))),
      ...rows.sets.flatMap(({ name: set, addresses }) =>
        addresses.map((value) => ({ of: ref(adminPolicyAddresses, set), column: 'addresses', value })),
      ),
    ],
    events: problemEvents(snapshot),
    ...(snapshot.endsInMs === undefined ? {} : { recheckMs: snapshot.endsInMs }),
  }
}

const marks = {
  anp: externalId.adminPolicy,
  banp: externalId.baselinePolicy,
  cnp: externalId.clusterPolicy,
} as const

function problemEvents({ kind, name, uid, problems }: AdminPolicySnapshot): readonly KubeEvent[] {
  const resource = adminResources[kind]
  return problems.map((problem) => ({
    regarding: { resource, name, uid },
    type: 'Warning',
    reason: `${resource.kind}Invalid`,
    message: problemText(problem),
  }))
}
