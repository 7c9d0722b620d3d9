import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { catalogOf, selectionOf } from '@kube-ovn/reconcile'
import type { TableSelection } from 'ovsdb-client'
import { controlFeatures } from './features.ts'

/** What the cache of the Northbound has to hold: what the features own, and what they look up. */
export function northboundTables(): Readonly<Record<string, TableSelection>> {
  const owned = selectionOf(catalogOf(ovnNorthboundSchema, controlFeatures))
  return {
    NB_Global: {},
    ...owned,
    Logical_Router_Port: withIndex(owned['Logical_Router_Port'], 'name'),
    Logical_Switch_Port: withIndex(owned['Logical_Switch_Port'], 'name'),
  }
}

function withIndex(table: TableSelection | undefined, index: string): TableSelection {
  return { ...table, indexes: [...(table?.indexes ?? []), index] }
}
