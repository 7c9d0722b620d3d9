import { flowsOfAcl } from '@kube-ovn/policy/explain'
import type { Row } from '../rows.ts'

/** How many addresses are in each address set, as matches name it. */
export type SetSizes = ReadonlyMap<string, number>

export function setSizes(rows: readonly (readonly [table: string, row: Row])[]): SetSizes {
  return new Map(
    rows
      .filter(([table]) => table === 'Address_Set')
      .map(([, { name, addresses }]) => [
        `$${String(name)}`,
        Array.isArray(addresses) ? addresses.length : 1,
      ]),
  )
}

/** How many OpenFlow rules a row is at most on a node that has one of its ports; none of what is no ACL, or where not all of its sets are known. */
export function flowsOfRow(table: string, { match, action }: Row, sizes: SetSizes): number | undefined {
  if (table !== 'ACL' || typeof match !== 'string') return undefined
  return flowsOfAcl({ action: String(action), match }, (set) => sizes.get(set))
}
