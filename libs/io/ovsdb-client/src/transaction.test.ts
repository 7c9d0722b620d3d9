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

  const uuid = '0d5b0e7c-7d5c-4b1f-9d0e-5f3f2d3a1b00'

  it('names the operation on the row that broke a rule at commit', () => {
    const details = `Transaction causes multiple rows in "NAT" table to have identical values (p) for index on column "name".  First row, with UUID ${uuid}, was inserted by this transaction.`
    const error = failure([{ uuid: ['uuid', 'u'] }, { uuid: ['uuid', uuid] }, { error: 'constraint violation', details }]) // prettier-ignore
    expect(error.details).toMatchObject({ operation: 1, op: 'mutate', table: 'NAT' })
  })

  it.each([
    ['transaction causes "NB_Global" table to contain 2 rows, greater than the schema-defined limit of 1 row(s)', 'NB_Global'],
    [`cannot delete Chassis row ${uuid} because of 1 remaining reference(s)`, 'Chassis'],
    [`Table Logical_Switch column ports row ${uuid} references nonexistent row ${uuid} in table X.`, 'Logical_Switch'],
  ])('finds the table in %j', (details, table) => {
    expect(failure([{}, {}, { error: 'constraint violation', details }]).details).toMatchObject({ operation: undefined, table })
  }) // prettier-ignore

  it.each([
    ['aborted', errors.TransactionAbortedError, 'backoff'],
    ['canceled', errors.TransactionCanceledError, 'backoff'],
    ['not allowed', errors.ReadOnlyError, 'backoff'],
    ['internal error', errors.ServerDefectError, 'backoff'],
    ['duplicate uuid', errors.DuplicateUuidError, 'never'],
    ['unknown mutator', errors.BadOperationError, 'never'],
    ['unknown column', errors.BadOperationError, 'never'],
    ['ovsdb error', errors.BadOperationError, 'never'],
    ['domain error', errors.BadOperationError, 'never'],
    ['range error', errors.BadOperationError, 'never'],
    ['not supported', errors.BadOperationError, 'never'],
    ['I/O error', errors.ServerResourceError, 'backoff'],
    ['referential integrity violation', errors.ReferentialIntegrityError, 'backoff'],
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

  it.each([
    {},
    [{ count: 1 }],
    [{ count: 1 }, null],
    [{ uuid: 7 }, {}],
    [{ count: '1' }, {}],
    [{ rows: [1] }, {}],
    [7, 8],
  ])('refuses %j', (answer) => {
    expect(() => readResults(operations, answer)).toThrow(errors.ProtocolError)
  })
})
