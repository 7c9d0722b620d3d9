import { KubeOvnError, type RetryClass } from '@kube-ovn/errors'

/** An endpoint that cannot be parsed, or `ssl:` without the files for it. */
export class InvalidEndpointError extends KubeOvnError<{
  readonly endpoint: string
  readonly expected: string
}> {
  readonly code = 'ovsdb-endpoint-invalid'
  readonly retry = 'on-change'

  constructor(
    endpoint: string,
    expected = 'tcp:HOST:PORT, ssl:HOST:PORT or unix:/PATH, an IPv6 address in brackets',
  ) {
    super('OVSDB endpoint is not understood', { endpoint, expected })
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

export interface RequestRefusedDetails {
  readonly method: string
  /** The `<error>` string of RFC 7047, section 3.1, or whatever the server gave as the reason. */
  readonly error: string
  readonly explanation: string | undefined
}

/** A request as a whole was refused, e.g. because the server does not know the method. */
export class RequestRefusedError extends KubeOvnError<RequestRefusedDetails> {
  readonly code: string = 'ovsdb-request-refused'
  readonly retry: RetryClass = 'backoff'

  constructor(details: RequestRefusedDetails) {
    super('OVSDB server refused a request', details)
  }
}

/** The server has no such database, or not yet: a new member of a cluster gets it from the others first. */
export class UnknownDatabaseError extends RequestRefusedError {
  override readonly code = 'ovsdb-database-unknown'
}

/** Finds the class that belongs to the `error` of an answer (RFC 7047, section 4). */
export function requestRefused(method: string, answer: unknown): RequestRefusedError {
  const { error = answer, details } = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    readonly error?: unknown
    readonly details?: unknown
  }
  const explanation = typeof details === 'string' ? details : undefined
  const isUnknown = error === 'unknown database' || error === 'database not available'
  return new (isUnknown ? UnknownDatabaseError : RequestRefusedError)({
    method,
    error: excerpt(error),
    explanation,
  })
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

/**
 * An integer of the server lost digits, because it lies beyond what JavaScript's numbers hold exactly (±2^53).
 *
 * A client that meets one in a row connects again and from then on reads such integers as bigints.
 */
export class InexactIntegerError extends KubeOvnError<{ readonly nearest: number; readonly cure: string }> {
  readonly code = 'ovsdb-integer-inexact'
  readonly retry = 'backoff'

  constructor(nearest: number) {
    super('integer does not fit a JavaScript number', {
      nearest,
      cure: 'set exactIntegers, so that integers beyond ±2^53 are read as bigints',
    })
  }
}

/** A file for TLS cannot be read or does not hold what it should. */
export class TlsFileError extends KubeOvnError<{ readonly file: string; readonly cure: string }> {
  readonly code = 'ovsdb-tls-file'
  readonly retry = 'backoff'

  constructor(file: string, cure: string, cause: unknown) {
    super('TLS file cannot be used', { file, cure }, { cause })
  }
}

/** The two ends of a TLS connection do not trust each other, or one of them does not speak TLS. */
export class TlsHandshakeError extends KubeOvnError<{
  readonly endpoint: string
  readonly problem: string
  readonly file: string | undefined
  readonly cure: string
}> {
  readonly code = 'ovsdb-tls-handshake'
  readonly retry = 'backoff'

  constructor(details: TlsHandshakeError['details'], cause: unknown) {
    super('TLS connection to the OVSDB server was refused', details, { cause })
  }
}

/** A name of a lock or of a new row that no server takes. */
export class InvalidIdentifierError extends KubeOvnError<{ readonly name: string; readonly cure: string }> {
  readonly code = 'ovsdb-invalid-identifier'
  readonly retry = 'never'

  constructor(name: string) {
    super('name of an OVSDB lock or row is not an identifier', {
      name,
      cure: 'use letters, digits and underscores, no digit first',
    })
  }
}

/** What the server said about a transaction that it did not commit. */
export interface TransactionErrorDetails {
  /** The `<error>` string of RFC 7047, section 3.1. */
  readonly error: string
  readonly explanation: string | undefined
  /**
   * Position of the operation that failed.
   *
   * Of an error at commit, the first operation on a row that the explanation names; `undefined` when it names none.
   */
  readonly operation: number | undefined
  readonly op: string | undefined
  readonly table: string | undefined
}

/** The server did not commit a transaction. Nothing of it took effect. */
export class TransactionError extends KubeOvnError<TransactionErrorDetails> {
  readonly code: string = 'ovsdb-transaction'
  readonly retry: RetryClass = 'backoff'

  constructor(details: TransactionErrorDetails, options?: ErrorOptions) {
    super('OVSDB transaction was not committed', details, options)
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

/** An `abort` operation did what it is for. */
export class TransactionAbortedError extends TransactionError {
  override readonly code = 'ovsdb-aborted'
}

/**
 * The transaction was canceled: by its signal, or by the server because the database got another schema.
 *
 * On a standalone server nothing of it took effect. In a cluster it may have been on its way to the other members, and be
 * committed later: decide anew from the cache.
 */
export class TransactionCanceledError extends TransactionError {
  override readonly code = 'ovsdb-canceled'
}

/** Two inserts used the same name, or a row id that is or was in use. */
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

/** The server takes no writes: it is a backup or was told so, or the database is its own. */
export class ReadOnlyError extends TransactionError {
  override readonly code = 'ovsdb-read-only'
}

/** The server found a defect of its own. */
export class ServerDefectError extends TransactionError {
  override readonly code = 'ovsdb-server-defect'
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
  // RFC 7047, section 3.1 and 5.2.
  aborted: TransactionAbortedError,
  canceled: TransactionCanceledError,
  'constraint violation': ConstraintViolationError,
  'domain error': BadOperationError,
  'duplicate uuid name': DuplicateUuidError,
  'I/O error': ServerResourceError,
  'not owner': NotOwnerError,
  'not supported': BadOperationError,
  'range error': BadOperationError,
  'referential integrity violation': ReferentialIntegrityError,
  'resources exhausted': ServerResourceError,
  'timed out': WaitTimedOutError,
  // ovsdb-server(7), section 3.1.
  'internal error': ServerDefectError,
  // A map or set with a duplicate key.
  'ovsdb error': BadOperationError,
  'permission error': PermissionDeniedError,
  'syntax error': BadOperationError,
  'unknown column': BadOperationError,
  // What the code of ovsdb-server has besides.
  'cluster error': ClusterError,
  'duplicate uuid': DuplicateUuidError,
  'duplicate uuid-name': DuplicateUuidError,
  'not allowed': ReadOnlyError,
  'unknown mutator': BadOperationError,
  'unknown table': BadOperationError,
}

/** Finds the class that belongs to an `<error>` string; {@link TransactionError} itself for an unknown one. */
export function transactionError(details: TransactionErrorDetails): TransactionError {
  const Class = Object.hasOwn(classes, details.error) ? classes[details.error] : undefined
  return new (Class ?? TransactionError)(details)
}

function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, plainBigint) ?? String(value))
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function plainBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
