import { southboundTables } from '@kube-ovn/assembly-controller'
import { ovnSouthboundSchema, type OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { DatabaseConnection, systemClock } from '@kube-ovn/process'
import { OvsdbClient } from 'ovsdb-client'
import type { ControllerConfig } from './config.ts'
import { databaseOptions } from './database-options.ts'
import { southboundEndpoints } from './endpoints.ts'
import type { FollowOptions } from './northbound.ts'

/** Makes the connection to the leader among the Southbound's servers, with a cache of chassis; nothing where nobody says where these are. */
export function createSouthbound(config: ControllerConfig): OvsdbClient<OvnSouthbound> | undefined {
  const endpoints = southboundEndpoints(config)
  if (endpoints.length === 0) return undefined
  return new OvsdbClient<OvnSouthbound>({
    ...databaseOptions(config, endpoints),
    schema: ovnSouthboundSchema,
    tables: southboundTables,
  })
}

/** Tells how the connection fares. */
export function followSouthbound(
  client: OvsdbClient<OvnSouthbound>,
  options: Omit<FollowOptions, 'onReplaced'>,
): DatabaseConnection {
  return new DatabaseConnection({ ...options, client, db: ovnSouthboundSchema.name, clock: systemClock })
}
