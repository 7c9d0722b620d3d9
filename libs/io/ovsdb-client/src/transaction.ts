import { ProtocolError, TransactionCanceledError, transactionError } from './errors.ts'
import type { Operation, OperationResult } from './types.ts'

interface WireError {
  readonly error: string
  readonly details?: unknown
}

/**
 * Reads the answer to a `transact` (RFC 7047, section 4.1.3), one result for each operation.
 *
 * Throws the `TransactionError` that names the operation which failed, and {@link ProtocolError} when the answer cannot be
 * understood. An error of the commit as a whole, such as a broken reference, comes after the results of all operations.
 */
export function readResults(operations: readonly Operation[], answer: unknown): readonly OperationResult[] {
  if (!Array.isArray(answer)) throw new ProtocolError('answer to transact is not a list', answer)
  const answers: readonly unknown[] = answer
  const failed = answers.findIndex(isError)
  const failure = answers[failed]
  if (isError(failure)) {
    const explanation = typeof failure.details === 'string' ? failure.details : undefined
    const position = failed < operations.length ? failed : culprit(operations, answers, explanation ?? '')
    const operation = position === undefined ? undefined : operations[position]
    throw transactionError({
      error: failure.error,
      explanation,
      operation: position,
      op: operation?.op,
      table: operation?.table ?? namedTable(explanation ?? ''),
    })
  }
  return operations.map((_, position) => readResult(answers[position]))
}

/** Says that a transaction was canceled, and why. */
export function canceled(cause: unknown): TransactionCanceledError {
  const unknown = { explanation: undefined, operation: undefined, op: undefined, table: undefined }
  return new TransactionCanceledError({ error: 'canceled', ...unknown }, { cause })
}

/** The first operation that made a row which an error at commit names, or that names it, too. */
function culprit(
  operations: readonly Operation[],
  answers: readonly unknown[],
  explanation: string,
): number | undefined {
  const uuids = explanation.match(uuidPattern) ?? []
  const position = operations.findIndex((operation, index) => {
    const { uuid } = (answers[index] ?? {}) as { readonly uuid?: unknown }
    const text = JSON.stringify([uuid, operation['where']])
    return uuids.some((uuid) => text.includes(uuid))
  })
  return position < 0 ? undefined : position
}

/** The table in the explanations of ovsdb-server's `transaction.c`. */
function namedTable(explanation: string): string | undefined {
  const [, quoted, plain] =
    /"(\w+)" (?:table|row)|\b(?:Table|delete) (\w+) (?:column|row)/.exec(explanation) ?? []
  return quoted ?? plain
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

function isError(wire: unknown): wire is WireError {
  return typeof wire === 'object' && wire !== null && typeof (wire as Partial<WireError>).error === 'string'
}

function readResult(wire: unknown): OperationResult {
  if (typeof wire !== 'object' || wire === null) throw new ProtocolError('operation without a result', wire)
  const { uuid, count, rows } = wire as {
    readonly uuid?: unknown
    readonly count?: unknown
    readonly rows?: unknown
  }
  return {
    ...(uuid === undefined ? {} : { uuid: readUuid(uuid) }),
    ...(count === undefined ? {} : { count: readCount(count) }),
    ...(rows === undefined ? {} : { rows: readRows(rows) }),
  }
}

function readUuid(wire: unknown): string {
  if (Array.isArray(wire) && wire[0] === 'uuid' && typeof wire[1] === 'string') return wire[1]
  throw new ProtocolError('id of a new row is not a uuid', wire)
}

function readCount(wire: unknown): number {
  if (Number.isSafeInteger(wire)) return wire as number
  throw new ProtocolError('number of rows is not an integer', wire)
}

function readRows(wire: unknown): readonly unknown[] {
  if (Array.isArray(wire) && wire.every((row) => typeof row === 'object' && row !== null)) return wire
  throw new ProtocolError('rows are not a list of objects', wire)
}
