import type { OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import type { OvsdbClientOptions } from 'ovsdb-client'

/** What the cache of the Southbound has to hold. */
export const southboundTables = {
  Chassis: { columns: ['name', 'hostname', 'external_ids', 'other_config'] },
} as const satisfies OvsdbClientOptions<OvnSouthbound>['tables']
