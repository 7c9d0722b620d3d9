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
  /** The server's own id in its cluster. */
  readonly sid: string | undefined
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
        sid: { type: { key: 'uuid', min: 0, max: 1 } },
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
  /** What the server of each endpoint said of the database when it was last asked; endpoints that did not answer are not there. */
  readonly said: ReadonlyMap<number, ServerDatabase>
  /** When most servers began to say that the database is not the one that was seen before, and what they say; ms. */
  readonly doubt: { readonly what: string; readonly sinceMs: number } | undefined
}

export type ClusterEvent =
  /** The current endpoint is about to be tried. */
  | { readonly type: 'tried' }
  /** The current endpoint's server says this about the database. `atMs` is of a clock that never goes back. */
  | { readonly type: 'heard'; readonly database: ServerDatabase; readonly atMs: number }
  /** What the current endpoint's server says is as it should be. */
  | { readonly type: 'observed'; readonly database: ServerDatabase }
  /** The database is another one than before: what was known of it is void. */
  | { readonly type: 'replaced' }
  /** The current endpoint could not be used, or not any more. */
  | { readonly type: 'failed' }
  /** Every endpoint failed and the client paused. */
  | { readonly type: 'paused' }
  /** The connection has been of use for a while. */
  | { readonly type: 'lasted' }

export function initialBelief(endpointCount: number): ClusterBelief {
  const unknown = { cid: undefined, index: 0, said: new Map(), doubt: undefined }
  return { endpointCount, current: 0, failed: 0, pauses: 0, ...unknown }
}

export function updateBelief(belief: ClusterBelief, event: ClusterEvent): ClusterBelief {
  switch (event.type) {
    case 'tried': {
      const said = new Map(belief.said)
      said.delete(belief.current)
      return { ...belief, said }
    }
    case 'heard': {
      const said = new Map(belief.said).set(belief.current, event.database)
      return { ...belief, said, doubt: doubtOf({ ...belief, said }, event.atMs) }
    }
    case 'observed': {
      const { cid = belief.cid, index = 0 } = event.database
      // What other servers said before is of the past by now.
      const said = new Map([[belief.current, event.database]])
      return { ...belief, cid, index: Math.max(belief.index, index), said, doubt: undefined }
    }
    case 'replaced':
      return { ...belief, cid: undefined, index: 0, doubt: undefined }
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
  const difference = differenceFrom(belief, database)
  if (difference !== undefined) return difference
  return leaderOnly && !database.leader ? 'it is not the leader of its cluster' : undefined
}

/** How a server's data are not those that were seen before. */
function differenceFrom(
  belief: Pick<ClusterBelief, 'cid' | 'index'>,
  database: ServerDatabase,
): string | undefined {
  if (belief.cid !== undefined && database.cid !== belief.cid) return 'it belongs to another cluster'
  return (database.index ?? 0) < belief.index ? 'its data is older than what was seen before' : undefined
}

/**
 * Tells how the database was replaced, if the servers agree that it was; `database` is what the current endpoint's server says.
 *
 * That is so when most of the endpoints have said for `patienceMs` that they are servers of one other cluster, or of the
 * same one with older data, each in touch with a majority of it, and this server leads it. One server that strayed, stands alone or was put
 * back by itself is not enough; two such majorities cannot be at a time. The patience is for servers that just come up: a new leader may
 * not have applied yet what its log has, and one that was cut off believes in itself for a while.
 */
export function replacement(
  belief: ClusterBelief,
  database: ServerDatabase,
  patienceMs: number,
  nowMs: number,
): string | undefined {
  const { doubt } = belief
  if (doubt === undefined || nowMs - doubt.sinceMs < patienceMs) return undefined
  const isOfThem = database.leader && doubt.what === doubtful(belief, database)
  return isOfThem ? differenceFrom(belief, database) : undefined
}

/** What most endpoints say, if they say that the database is another one, and since when. */
function doubtOf(belief: ClusterBelief, nowMs: number): ClusterBelief['doubt'] {
  const servers = new Map<string, Set<string>>()
  for (const [endpoint, database] of belief.said) {
    const what = doubtful(belief, database)
    if (what === undefined) continue
    const of = servers.get(what) ?? new Set()
    // A server that answers at two endpoints is one.
    servers.set(what, of.add(database.sid ?? String(endpoint)))
  }
  const [what] = [...servers].find(([, { size }]) => size * 2 > belief.endpointCount) ?? []
  if (what === undefined) return undefined
  return belief.doubt?.what === what ? belief.doubt : { what, sinceMs: nowMs }
}

/** Names what a server says, if that is something else than what was seen before. */
function doubtful(belief: ClusterBelief, database: ServerDatabase): string | undefined {
  if (database.model !== 'clustered' || !database.connected) return undefined
  const difference = differenceFrom(belief, database)
  return difference === undefined ? undefined : `${difference}: ${database.cid}`
}
