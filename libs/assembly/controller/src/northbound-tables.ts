import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { catalogOf, selectionOf } from '@kube-ovn/reconcile'
import type { TableSelection } from 'ovsdb-client'
import { declarationsOf } from './declarations-of.ts'
import { controlFeatures } from './features.ts'

/** What the cache of the Northbound has to hold: what the features own, and what they look up. */
export function northboundTables(): Readonly<Record<string, TableSelection>> {
  const tables: Record<string, TableSelection> = selectionOf(catalogOf(ovnNorthboundSchema, controlFeatures))
  for (const { table, indexes } of declarationsOf(controlFeatures).lookups) {
    const owned = tables[table]
    const all = [...(owned?.indexes ?? []), ...indexes]
    tables[table] = { ...owned, ...(all.length === 0 ? {} : { indexes: all }) }
  }
  return tables
}
