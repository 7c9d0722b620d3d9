import { northboundTables } from '@kube-ovn/assembly-controller'
import { DatabaseConnection, systemClock, type DatabaseConnectionOptions } from '@kube-ovn/process'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'
import { databaseOptions } from './database-options.ts'

/** Makes the connection to the leader among the Northbound's servers, with a cache of what the features own and read. */
export function createNorthbound(
  config: ControllerConfig,
  endpoints: readonly string[],
): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    ...databaseOptions(config, endpoints),
    schema: ovnNorthboundSchema,
    tables: northboundTables(),
  })
}

export type FollowOptions = Omit<DatabaseConnectionOptions, 'client' | 'db' | 'clock' | 'replaced'>

/**
 * Tells how the connection fares, and whether the database is another one than before.
 *
 * A standalone server cannot say that it is. But there is one row of NB_Global for as long as a Northbound lives.
 */
export function followNorthbound(
  client: OvsdbClient<OvnNorthbound>,
  options: FollowOptions,
): DatabaseConnection {
  let isMadeAnew = false
  client.onChange((changes) => {
    isMadeAnew ||=
      client.state.phase !== 'connected' &&
      changes.some(
        ({ table, old, new: row }) => table === 'NB_Global' && old !== undefined && row === undefined,
      )
  })
  return new DatabaseConnection({
    ...options,
    client,
    db: ovnNorthboundSchema.name,
    clock: systemClock,
    replaced() {
      const how = isMadeAnew ? 'it was made anew' : undefined
      isMadeAnew = false
      return how
    },
  })
}
