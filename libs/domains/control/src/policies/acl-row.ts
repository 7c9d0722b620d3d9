import type { RowKind } from '@kube-ovn/ovn-names'
import type { PolicyAcl } from '@kube-ovn/policy'
import type { OwnedRow } from '@kube-ovn/reconcile'
import { externalIds } from '../rows.ts'

/** The row of an ACL of a policy, with what upstream knows it by. */
export function aclRow(
  kind: RowKind,
  id: string,
  acl: PolicyAcl,
  marks: Readonly<Record<string, string>>,
): OwnedRow {
  const { isLogged, isAfterBalancing, ...columns } = acl
  return {
    kind,
    id,
    columns: {
      ...columns,
      log: isLogged,
      options: { 'apply-after-lb': isAfterBalancing ? 'true' : undefined },
      external_ids: externalIds(marks),
    },
  }
}
