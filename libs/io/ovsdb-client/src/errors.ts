import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

/** An endpoint that cannot be parsed. */
export class InvalidEndpointError extends KubeOvnError<{
  readonly endpoint: string
  readonly expected: string
}> {
  readonly code = 'ovsdb-endpoint-invalid'
  readonly retry = 'on-change'

  constructor(endpoint: string) {
    super('OVSDB endpoint is not understood', {
      endpoint,
      expected: 'tcp:HOST:PORT, ssl:HOST:PORT or unix:/PATH, an IPv6 address in brackets',
    })
  }
}

/** The server at an endpoint could not be reached or would not talk. The cause says why. */
export class ConnectFailedError extends KubeOvnError<{ readonly endpoint: string }> {
  readonly code = 'ovsdb-connect-failed'
  readonly retry = 'backoff'

  constructor(endpoint: string, cause: unknown) {
    super('OVSDB server cannot be reached', { endpoint }, { cause })
  }
}

/** A connection that had been established ended. */
export class ConnectionLostError extends KubeOvnError<{
  readonly endpoint: string
  readonly reason: string
}> {
  readonly code = 'ovsdb-connection-lost'
  readonly retry = 'backoff'

  constructor(endpoint: string, reason: string, cause?: unknown) {
    super('connection to the OVSDB server was lost', { endpoint, reason }, { cause })
  }
}

/** Nothing was sent, because there is no connection whose contents the cache reflects. */
export class NotConnectedError extends KubeOvnError<{ readonly database: string }> {
  readonly code = 'ovsdb-not-connected'
  readonly retry = 'backoff'

  constructor(database: string, cause?: unknown) {
    super('not connected to the OVSDB server', { database }, { cause })
  }
}

/** The client was disposed. */
export class ClientClosedError extends KubeOvnError<{ readonly database: string }> {
  readonly code = 'ovsdb-client-closed'
  readonly retry = 'never'

  constructor(database: string) {
    super('OVSDB client is closed', { database })
  }
}

/**
 * The connection was lost between a transaction and its reply.
 *
 * It may have been committed or not. Wait until the client is connected again: the cache then tells which.
 */
export class TransactionOutcomeUnknownError extends KubeOvnError<{ readonly database: string }> {
  readonly code = 'ovsdb-outcome-unknown'
  readonly retry = 'backoff'

  constructor(database: string, cause: unknown) {
    super('connection was lost before the transaction was answered', { database }, { cause })
  }
}

/** The peer said something that RFC 7047 or ovsdb-server(7) does not allow. The connection is given up. */
export class ProtocolError extends KubeOvnError<{ readonly problem: string; readonly value: string }> {
  readonly code = 'ovsdb-protocol'
  readonly retry = 'backoff'

  constructor(problem: string, value: unknown, cause?: unknown) {
    super('OVSDB server broke the protocol', { problem, value: excerpt(value) }, { cause })
  }
}

/** A request as a whole was refused, e.g. because the server has no such database or table. */
export class RequestRefusedError extends KubeOvnError<{ readonly method: string; readonly error: string }> {
  readonly code = 'ovsdb-request-refused'
  readonly retry = 'backoff'

  constructor(method: string, error: unknown) {
    super('OVSDB server refused a request', { method, error: excerpt(error) })
  }
}

/** The server works, but it is not the one to talk to. The client goes on to the next endpoint. */
export class UnsuitableServerError extends KubeOvnError<{
  readonly endpoint: string
  readonly database: string
  readonly reason: string
}> {
  readonly code = 'ovsdb-server-unsuitable'
  readonly retry = 'backoff'

  constructor(endpoint: string, database: string, reason: string) {
    super('OVSDB server is not suitable', { endpoint, database, reason })
  }
}

/** A table, column or index that the schema does not have, or a value that its column does not take. */
export class SchemaMismatchError extends KubeOvnError<{
  readonly table: string
  readonly column: string | undefined
  readonly value: string | undefined
  readonly expected: string
}> {
  readonly code = 'ovsdb-schema-mismatch'
  readonly retry = 'never'

  constructor(table: string, column: string | undefined, value: unknown, expected: string) {
    super('does not fit the OVSDB schema', {
      table,
      column,
      value: value === undefined ? undefined : excerpt(value),
      expected,
    })
  }
}

/** What the server said about a transaction that it did not commit. */
export interface TransactionErrorDetails {
  /** The `<error>` string of RFC 7047, section 3.1. */
  readonly error: string
  readonly explanation: string | undefined
  /** Position of the operation that failed; `undefined` when it was the commit as a whole. */
  readonly operation: number | undefined
  readonly op: string | undefined
  readonly table: string | undefined
}

/** The server did not commit a transaction. Nothing of it took effect. */
export class TransactionError extends KubeOvnError<TransactionErrorDetails> {
  readonly code: string = 'ovsdb-transaction'
  readonly retry: RetryClass = 'backoff'

  constructor(details: TransactionErrorDetails) {
    super('OVSDB transaction was not committed', details)
  }
}

/** A value, a uniqueness rule or a set size would be violated. */
export class ConstraintViolationError extends TransactionError {
  override readonly code = 'ovsdb-constraint'
}

/** A strong reference would point to a row that does not exist. */
export class ReferentialIntegrityError extends TransactionError {
  override readonly code = 'ovsdb-referential-integrity'
}

/** An `assert` failed: the lock is not ours. */
export class NotOwnerError extends TransactionError {
  override readonly code = 'ovsdb-not-owner'
}

/** A `wait` did not see what it waited for in time. */
export class WaitTimedOutError extends TransactionError {
  override readonly code = 'ovsdb-wait-timed-out'
}

/** Two inserts used the same name (or row id). */
export class DuplicateUuidError extends TransactionError {
  override readonly code = 'ovsdb-duplicate-uuid'
  override readonly retry = 'never'
}

/** An operation could not be understood, or computes what it may not. */
export class BadOperationError extends TransactionError {
  override readonly code = 'ovsdb-bad-operation'
  override readonly retry = 'never'
}

/** The server lacks memory, disk or permission to write. */
export class ServerResourceError extends TransactionError {
  override readonly code = 'ovsdb-server-resource'
}

/** The role of this client may not do that (ovsdb-server(7), role-based access control). */
export class PermissionDeniedError extends TransactionError {
  override readonly code = 'ovsdb-permission'
  override readonly retry = 'on-change'
}

/**
 * The cluster did not agree, e.g. because its leader just changed.
 *
 * Unlike with the other errors, the transaction may still be committed later: decide anew from the cache.
 */
export class ClusterError extends TransactionError {
  override readonly code = 'ovsdb-cluster'
}

const classes: Readonly<Record<string, new (details: TransactionErrorDetails) => TransactionError>> = {
  'constraint violation': ConstraintViolationError,
  'referential integrity violation': ReferentialIntegrityError,
  'not owner': NotOwnerError,
  'timed out': WaitTimedOutError,
  'duplicate uuid-name': DuplicateUuidError,
  'duplicate uuid': DuplicateUuidError,
  'domain error': BadOperationError,
  'range error': BadOperationError,
  'syntax error': BadOperationError,
  'unknown column': BadOperationError,
  'unknown table': BadOperationError,
  // A map or set with a duplicate key, see ovsdb-server(7), section 3.1.
  'ovsdb error': BadOperationError,
  'not supported': BadOperationError,
  'resources exhausted': ServerResourceError,
  'I/O error': ServerResourceError,
  'permission error': PermissionDeniedError,
  'cluster error': ClusterError,
}

/** Finds the class that belongs to an `<error>` string; {@link TransactionError} itself for an unknown one. */
export function transactionError(details: TransactionErrorDetails): TransactionError {
  const Class = Object.hasOwn(classes, details.error) ? classes[details.error] : undefined
  return new (Class ?? TransactionError)(details)
}

function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Refuses a name that no server takes for a lock. */
export class InvalidLockNameError extends KubeOvnError<{ readonly name: string; readonly cure: string }> {
  readonly code = 'ovsdb-invalid-lock-name'
  readonly retry: RetryClass = 'never'

  constructor(details: { readonly name: string; readonly cure: string }) {
    super('lock name is not an identifier', details)
  }
}
