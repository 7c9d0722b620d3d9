import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { RowKind, RowRef } from '@kube-ovn/ovn-names'
import type { SetMember } from '@kube-ovn/reconcile'

/** Names a row by its kind and natural key. */
export function ref(kind: RowKind, id: string): RowRef {
  return { kind: kind.name, id }
}

/** Puts a row into a set column of another one. */
export function memberOf(container: RowRef, column: string, value: RowRef): SetMember {
  return { of: container, column, value }
}

/** The external_ids that upstream writes on a row; the kernel adds its own marks. */
export function externalIds(ids: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { [externalId.vendor]: vendor, ...ids }
}
