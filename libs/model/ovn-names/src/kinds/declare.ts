import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { externalId, vendor } from '../external-ids.ts'
import type { MarkedTable, NorthboundTable, ParentRow, RowKind } from '../row-kind.ts'

export type Marks = Readonly<Record<string, string>>

interface KindOptions<N extends MarkedTable> {
  readonly name: string
  readonly table: N
  readonly shared?: readonly string[]
  readonly exactMaps?: readonly string[]
  readonly composed?: readonly string[]
  readonly parent?: readonly [NorthboundTable, string]
  readonly identify: (row: OvnNorthbound[N], ids: Marks, parent: ParentRow | undefined) => string | undefined
  readonly resembles?: (row: OvnNorthbound[N], ids: Marks) => string | undefined
}

/**
 * Declares a kind. Only a row with `vendor=kube-ovn` is ever identified as ours: a foreign row is nobody's to adopt.
 */
export function rowKind<N extends MarkedTable>(options: KindOptions<N>): RowKind<N> {
  const { resembles } = options
  return {
    name: options.name,
    table: options.table,
    shared: options.shared ?? [],
    ...(options.exactMaps === undefined ? {} : { exactMaps: options.exactMaps }),
    composed: options.composed ?? [],
    ...(options.parent === undefined ? {} : { parent: options.parent }),
    identify(row, parent) {
      return isOfVendor(row) ? options.identify(row, row.external_ids, parent) : undefined
    },
    ...(resembles === undefined
      ? {}
      : { resembles: (row) => (isOfVendor(row) ? resembles(row, row.external_ids) : undefined) }),
  }
}

function isOfVendor({ external_ids: ids }: { readonly external_ids: Marks }): boolean {
  return ids[externalId.vendor] === vendor
}

function familyOfMatch(match: string): 4 | 6 | undefined {
  if (match.startsWith('ip4.')) return 4
  if (match.startsWith('ip6.')) return 6
  return undefined
}

/** A family's share of something, e.g. `ovn-default/4`. */
export function perFamily(key: string, match: string): string | undefined {
  const family = familyOfMatch(match)
  return family === undefined ? undefined : `${key}/${family}`
}
