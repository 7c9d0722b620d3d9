import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { RowKind, RowRef } from '@kube-ovn/ovn-names'
import type { SetMember } from '@kube-ovn/reconcile'

/** Whether the natural key of a row is that of an object, or goes on after a slash. */
export function isNamedAfter(object: string, id: string): boolean {
  return id === object || id.startsWith(`${object}/`)
}

/**
 * Whether the natural key of a row is the name of a port group, or that of something that belongs to the group: its ACLs, sets and meters.
 * So is the name of a group that has a longer one, as another one has the plain name.
 */
export function isNamedAfterGroup(group: string, id: string): boolean {
  return id.startsWith(group) && /^[./_]/.test(`${id.slice(group.length)}/`)
}

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
