import { externalId, type RowKind } from '@kube-ovn/ovn-names'
import type { PolicyAcl } from '@kube-ovn/policy'
import type { OwnedRow } from '@kube-ovn/reconcile'
import { externalIds } from '../rows.ts'

/** The row of an ACL in a port group. */
export function aclRow(kind: RowKind, id: string, group: string, acl: PolicyAcl): OwnedRow {
  const { isLogged, isAfterBalancing, ...columns } = acl
  return {
    kind,
    id,
    columns: {
      ...columns,
      log: isLogged,
      options: { 'apply-after-lb': isAfterBalancing ? 'true' : undefined },
      external_ids: externalIds({ [externalId.parent]: group }),
    },
  }
}
