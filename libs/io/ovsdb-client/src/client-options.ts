import type { Backoff } from '@kube-ovn/time'
import type { TlsFiles } from './tls.ts'
import type { ConditionalSelection, DatabaseSchema, Tables } from './types.ts'

export interface OvsdbClientOptions<T extends Tables> {
  /** Servers of the database, e.g. `tcp:10.0.0.1:6641`, `ssl:[fd00::1]:6641`, `unix:/run/ovn/ovnnb_db.sock`. */
  readonly endpoints: readonly string[]
  readonly schema: DatabaseSchema
  /** What to keep in the cache. Tables that are not named are not monitored. */
  readonly tables: { readonly [N in keyof T]?: ConditionalSelection<T[N]> }
  /** Talks to no server of a cluster but its leader. Writes are faster there, and locks are the leader's. */
  readonly leaderOnly?: boolean
  /** For `ssl:` endpoints. */
  readonly tls?: TlsFiles
  /**
   * How long a server may be silent before it is asked for a sign of life, which it then has the same time to give.
   * 10 000 when absent; 0 means for ever.
   */
  readonly inactivityProbeMs?: number
  /**
   * How long a transaction may go unanswered before the connection is given up, although the server shows signs of life. The time
   * that its `wait` operations may take is added. 60 000 when absent; 0 means for ever.
   */
  readonly transactTimeoutMs?: number
  /**
   * How long a connection may be silent while a transaction is not answered before the server is asked, on another connection, whether it
   * is alive. If it is, the silent one is dead and is given up. 1 000 when absent; 0 means never to ask.
   */
  readonly doubtAfterMs?: number
  /** For the connection itself, with the TLS handshake. 5 000 when absent. */
  readonly connectTimeoutMs?: number
  /**
   * How long most of the endpoints must agree that the database is another one than was seen before, made anew or restored from a
   * backup, until it is taken for that. 10 000 when absent.
   */
  readonly replacedAfterMs?: number
  /** Pause after every endpoint has failed. */
  readonly backoff?: Backoff
  /**
   * Reads integers beyond ±2^53 as bigints from the start.
   *
   * When absent, the client does so once it met one in a row that it keeps, which costs a reconnect; a `select` that answers
   * one then fails with `InexactIntegerError`.
   */
  readonly exactIntegers?: boolean
}
