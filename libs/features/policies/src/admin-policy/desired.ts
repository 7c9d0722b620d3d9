import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { aclRow } from '@kube-ovn/domains-control/policies'
import {
  adminPolicyAcl,
  adminPolicyAddresses,
  adminPolicyGroupName,
  adminPolicyName,
  adminPolicyPortGroup,
  externalId,
  groupAclId,
} from '@kube-ovn/ovn-names'
import { nothing, type Desired } from '@kube-ovn/reconcile'
import type { AdminPolicySnapshot } from './snapshot.ts'
import { toldOf } from './told.ts'

/**
 * Computes the port group of a policy of an administrator with its ACLs, and the address sets of its rules. Pods put their ports and
 * addresses into these themselves, in the transaction that makes the port.
 *
 * @see ovn-nb(5), Port_Group, ACL, Address_Set
 */
export function desiredAdminPolicy(snapshot: AdminPolicySnapshot): Desired {
  return { ...desiredRows(snapshot), ...toldOf(snapshot) }
}

function desiredRows({ kind, object, enforced }: AdminPolicySnapshot): Desired {
  if (enforced === undefined) return nothing
  const { group, rows, endsInMs } = enforced
  const { name } = object.metadata
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
    ...(endsInMs === undefined ? {} : { recheckMs: endsInMs }),
  }
}

const marks = {
  anp: externalId.adminPolicy,
  banp: externalId.baselinePolicy,
  cnp: externalId.clusterPolicy,
} as const
