import { describe, expect, it } from 'vitest'
import * as errors from './errors.ts'
import { readResults } from './transaction.ts'

const operations = [
  { op: 'insert', table: 'ACL' },
  { op: 'mutate', table: 'NAT' },
]

function failure(answer: unknown): errors.TransactionError {
  try {
    readResults(operations, answer)
  } catch (error) {
    if (error instanceof errors.TransactionError) return error
  }
  throw new Error('no transaction error')
}

describe('readResults', () => {
  it('answers one result for each operation', () => {
    expect(readResults(operations, [{ uuid: ['uuid', 'u'] }, { count: 2 }])).toEqual([
      { uuid: 'u' },
      { count: 2 },
    ])
  })

  it('names the operation that failed', () => {
    const error = failure([
      { uuid: ['uuid', 'u'] },
      { error: 'domain error', details: 'division by zero' },
      null,
    ])
    expect(error).toBeInstanceOf(errors.BadOperationError)
    expect(error.details).toEqual({
      error: 'domain error',
      explanation: 'division by zero',
      operation: 1,
      op: 'mutate',
      table: 'NAT',
    })
  })

  it('names no operation when the commit failed', () => {
    const error = failure([{}, {}, { error: 'referential integrity violation', details: 'no row' }])
    expect(error).toBeInstanceOf(errors.ReferentialIntegrityError)
    expect(error.details).toMatchObject({ operation: undefined, op: undefined, table: undefined })
  })

  it.each([
    ['constraint violation', errors.ConstraintViolationError, 'backoff'],
    ['not owner', errors.NotOwnerError, 'backoff'],
    ['timed out', errors.WaitTimedOutError, 'backoff'],
    ['duplicate uuid-name', errors.DuplicateUuidError, 'never'],
    ['syntax error', errors.BadOperationError, 'never'],
    ['resources exhausted', errors.ServerResourceError, 'backoff'],
    ['permission error', errors.PermissionDeniedError, 'on-change'],
    ['cluster error', errors.ClusterError, 'backoff'],
    ['never heard of', errors.TransactionError, 'backoff'],
    ['constructor', errors.TransactionError, 'backoff'],
  ])('has a class for %j', (error, Class, retry) => {
    const thrown = failure([{ error }])
    expect(thrown.constructor).toBe(Class)
    expect(thrown.retry).toBe(retry)
  })

  it.each([{}, [{ count: 1 }], [{ count: 1 }, null]])('refuses %j', (answer) => {
    expect(() => readResults(operations, answer)).toThrow(errors.ProtocolError)
  })
})
