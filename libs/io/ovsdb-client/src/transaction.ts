import { ProtocolError, transactionError } from './errors.ts'
import type { Operation, OperationResult } from './types.ts'

interface WireResult {
  readonly error?: string
  readonly details?: string
  readonly uuid?: readonly [string, string]
  readonly count?: number
  readonly rows?: readonly unknown[]
}

/**
 * Reads the answer to a `transact` (RFC 7047, section 4.1.3), one result for each operation.
 *
 * Throws the `TransactionError` that names the operation which failed. An error of the commit as a whole, such
 * as a broken reference, comes after the results of all operations.
 */
export function readResults(operations: readonly Operation[], answer: unknown): readonly OperationResult[] {
  if (!Array.isArray(answer)) throw new ProtocolError('answer to transact is not a list', answer)
  const results = answer as readonly (WireResult | null)[]
  const failed = results.findIndex((result) => result?.error !== undefined)
  if (failed >= 0) {
    const { error = '', details } = results[failed] ?? {}
    const operation = operations[failed]
    throw transactionError({
      error,
      explanation: details,
      operation: operation === undefined ? undefined : failed,
      op: operation?.op,
      table: operation?.table,
    })
  }
  return operations.map((_, position) => readResult(results[position]))
}

function readResult(wire: WireResult | null | undefined): OperationResult {
  if (wire === null || wire === undefined) throw new ProtocolError('operation without a result', wire)
  const { uuid, count, rows } = wire
  return {
    ...(uuid === undefined ? {} : { uuid: uuid[1] }),
    ...(count === undefined ? {} : { count }),
    ...(rows === undefined ? {} : { rows }),
  }
}
