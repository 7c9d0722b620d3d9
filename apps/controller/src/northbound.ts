import { northboundTables } from '@kube-ovn/features-control'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'
import { databaseTls, northboundEndpoints } from './endpoints.ts'

/** Makes the connection to the Northbound's leader, with a cache of what the features own and read. */
export function createNorthbound(config: ControllerConfig): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: northboundEndpoints(config),
    schema: ovnNorthboundSchema,
    tables: northboundTables(),
    leaderOnly: true,
    connectTimeoutMs: config.ovsdbConTimeout * 1000,
    inactivityProbeMs: config.ovsdbInactivityTimeout * 1000,
    ...(config.enableSsl ? { tls: databaseTls } : {}),
  })
}
