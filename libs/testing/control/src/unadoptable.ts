import { externalId, type RowKind } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { controlFeatures } from '@kube-ovn/assembly-controller'
import type { ControlWorld } from '@kube-ovn/domains-control'

type Northbound = ControlWorld['northbound']

const kinds = controlFeatures.flatMap((feature) => feature.kinds)
const tables = new Set(kinds.map(({ table }) => table))

/**
 * Rows of the controller that the next one would make anew if they had only upstream's marks: their content alone
 * does not tell what they are.
 */
export function unadoptable(northbound: Northbound): readonly string[] {
  return [...tables].flatMap((table) =>
    [...northbound.scan(table)].flatMap((row) => {
      // What can not be marked is known by its content alone.
      const ids: Readonly<Record<string, string>> = 'external_ids' in row ? row.external_ids : {}
      const { [externalId.owner]: owner, [externalId.id]: id } = ids
      if (owner === undefined || id === undefined) return []
      const found = identities(table, row, northbound)
      return found.includes(id) ? [] : [`${owner}: ${id} seems to be ${found.join(' or ') || 'nothing'}`]
    }),
  )
}

/** As the kernel finds them: what the first kind says, and what the row may be beside that. */
function identities(
  table: RowKind['table'],
  row: OvnNorthbound[RowKind['table']],
  northbound: Northbound,
): readonly string[] {
  const ofTable = kinds.filter((kind) => kind.table === table)
  const named = (kind: RowKind, id: string | undefined) => (id === undefined ? [] : [`${kind.name}/${id}`])
  const seeming = ofTable.flatMap((kind) => named(kind, kind.identify(row, parentOf(kind, row, northbound))))
  return [...seeming.slice(0, 1), ...ofTable.flatMap((kind) => named(kind, kind.resembles?.(row)))]
}

function parentOf({ parent }: RowKind, { _uuid: uuid }: { readonly _uuid: string }, northbound: Northbound) {
  if (parent === undefined) return undefined
  const [table, column] = parent
  for (const row of northbound.scan(table)) {
    const refers = Object.entries(row).some(
      ([name, value]) => name === column && Array.isArray(value) && value.includes(uuid),
    )
    if (refers && 'name' in row) return { table, name: String(row.name) }
  }
  return undefined
}
