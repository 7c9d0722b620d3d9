import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { catalogOf, selectionOf } from '@kube-ovn/reconcile'
import { OvsdbClient } from 'ovsdb-client'
import type { TableSelection } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'
import { databaseTls, northboundEndpoints } from './endpoints.ts'
import { features } from './features.ts'

/** Makes the connection to the Northbound's leader, with a cache of what the features own and read. */
export function createNorthbound(config: ControllerConfig): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: northboundEndpoints(config),
    schema: ovnNorthboundSchema,
    tables: selection(),
    leaderOnly: true,
    connectTimeoutMs: config.ovsdbConTimeout * 1000,
    inactivityProbeMs: config.ovsdbInactivityTimeout * 1000,
    ...(config.enableSsl ? { tls: databaseTls } : {}),
  })
}

function selection(): Readonly<Record<string, TableSelection>> {
  const owned = selectionOf(catalogOf(ovnNorthboundSchema, features))
  return {
    NB_Global: {},
    ...owned,
    Logical_Router_Port: withIndex(owned['Logical_Router_Port'], 'name'),
  }
}

function withIndex(table: TableSelection | undefined, index: string): TableSelection {
  return { ...table, indexes: [...(table?.indexes ?? []), index] }
}
