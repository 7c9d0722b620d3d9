import { externalId, vendor, type RowRef } from '@kube-ovn/ovn-names'
import type { RowBase } from 'ovsdb-client'
import { mapOf } from './rows.ts'

/** Where the kernel's marks live: every table whose rows it owns has this map column. */
export const markColumn = 'external_ids'

/** Indexes over the marks, as ovsdb-client names them. */
export const ownerIndex = `${markColumn}:${externalId.owner}`
export const idIndex = `${markColumn}:${externalId.id}`

/** `<feature>/<key>`. A feature's name has no slash, a key may have some. */
export type OwnerMark = string

export function ownerMark(feature: string, key: string): OwnerMark {
  return `${feature}/${key}`
}

export function parseOwnerMark(
  mark: OwnerMark,
): { readonly feature: string; readonly key: string } | undefined {
  const slash = mark.indexOf('/')
  return slash <= 0 ? undefined : { feature: mark.slice(0, slash), key: mark.slice(slash + 1) }
}

/** The name of the owner's feature; empty when the mark is none of ours. */
export function featureOf(mark: OwnerMark): string {
  return parseOwnerMark(mark)?.feature ?? ''
}

/** `<kind>/<natural key>`. A kind's name has no slash, a natural key may have some. */
export type IdMark = string

export function idMark(ref: RowRef): IdMark {
  return `${ref.kind}/${ref.id}`
}

export function parseIdMark(mark: IdMark): RowRef | undefined {
  const slash = mark.indexOf('/')
  return slash <= 0 ? undefined : { kind: mark.slice(0, slash), id: mark.slice(slash + 1) }
}

/** The owner that a row names; a row without one is nobody's of us. */
export function ownerOf(row: RowBase): OwnerMark | undefined {
  return textMark(row, externalId.owner)
}

export function idOf(row: RowBase): IdMark | undefined {
  return textMark(row, externalId.id)
}

export function hasVendor(row: RowBase): boolean {
  return textMark(row, externalId.vendor) === vendor
}

/** The three marks of a row, to be merged into its `external_ids`. */
export function marksOf(owner: OwnerMark, id: IdMark): Readonly<Record<string, string>> {
  return { [externalId.vendor]: vendor, [externalId.owner]: owner, [externalId.id]: id }
}

function textMark(row: RowBase, key: string): string | undefined {
  const value = mapOf(row, markColumn)[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
