import type { DatabaseSchema } from './types.ts'

/** A row of `Database` in the `_Server` database that every ovsdb-server has, see ovsdb-server(5). */
export type ServerDatabase = {
  readonly _uuid: string
  readonly name: string
  readonly model: 'standalone' | 'clustered' | 'relay'
  /** In a majority of its cluster; always, if not clustered. */
  readonly connected: boolean
  readonly leader: boolean
  /** The cluster's id. */
  readonly cid: string | undefined
  /** How far the server has got in the cluster's log. */
  readonly index: number | undefined
}

export type ServerTables = { readonly Database: ServerDatabase }

/** What this client needs of the schema of `_Server`. */
export const serverSchema: DatabaseSchema = {
  name: '_Server',
  version: '1.2.0',
  tables: {
    Database: {
      columns: {
        name: { type: 'string' },
        model: { type: 'string' },
        connected: { type: 'boolean' },
        leader: { type: 'boolean' },
        cid: { type: { key: 'uuid', min: 0, max: 1 } },
        index: { type: { key: 'integer', min: 0, max: 1 } },
      },
    },
  },
}

/** What is known about the servers of a database, as a value. */
interface ClusterBelief {
  readonly endpointCount: number
  /** The endpoint to use or to try next. */
  readonly current: number
  /** Endpoints that failed since the last pause. */
  readonly failed: number
  /** Pauses since a connection lasted. */
  readonly pauses: number
  readonly cid: string | undefined
  /** The furthest that a server of the cluster was seen. One that is behind may have been cut off. */
  readonly index: number
}

export type ClusterEvent =
  /** The current endpoint's server says this about the database. */
  | { readonly type: 'observed'; readonly database: ServerDatabase }
  /** The current endpoint could not be used, or not any more. */
  | { readonly type: 'failed' }
  /** Every endpoint failed and the client paused. */
  | { readonly type: 'paused' }
  /** The connection has been of use for a while. */
  | { readonly type: 'lasted' }

export function initialBelief(endpointCount: number): ClusterBelief {
  return { endpointCount, current: 0, failed: 0, pauses: 0, cid: undefined, index: 0 }
}

export function updateBelief(belief: ClusterBelief, event: ClusterEvent): ClusterBelief {
  switch (event.type) {
    case 'observed': {
      const { cid = belief.cid, index = 0 } = event.database
      return { ...belief, cid, index: Math.max(belief.index, index) }
    }
    case 'failed':
      return { ...belief, current: (belief.current + 1) % belief.endpointCount, failed: belief.failed + 1 }
    case 'paused':
      return { ...belief, failed: 0, pauses: belief.pauses + 1 }
    case 'lasted':
      return { ...belief, failed: 0, pauses: 0 }
  }
}

/** Tells whether every endpoint has been tried in vain, so that it is time to pause. */
export function isExhausted(belief: ClusterBelief): boolean {
  return belief.failed >= belief.endpointCount
}

/** Tells why the current endpoint's server must not be used; `undefined` when it may. `names` are the databases that it has. */
export function unsuitability(
  belief: ClusterBelief,
  database: ServerDatabase | undefined,
  leaderOnly: boolean,
  names: readonly string[],
): string | undefined {
  if (database === undefined) return `it does not have the database, but ${names.join(', ')}`
  if (database.model === 'standalone') return undefined
  if (!database.connected) return 'it is not connected to its cluster'
  if (database.model === 'relay') return leaderOnly ? 'it is a relay' : undefined
  if (belief.cid !== undefined && database.cid !== belief.cid) return 'it belongs to another cluster'
  if ((database.index ?? 0) < belief.index) return 'its data is older than what was seen before'
  return leaderOnly && !database.leader ? 'it is not the leader of its cluster' : undefined
}
