import { expect, it } from 'vitest'
import { exitCodeOf, parseExecStatus } from './exec-status.ts'

it('is 0 for a command that succeeded', () => {
  expect(exitCodeOf({ status: 'Success' })).toBe(0)
})

it('is what the command ended with', () => {
  const details = { causes: [{ reason: 'ExitCode', message: '17' }] }
  expect(exitCodeOf({ status: 'Failure', reason: 'NonZeroExitCode', details })).toBe(17)
})

it.each([
  { status: 'Failure', reason: 'InternalError', message: 'executable file not found' },
  { status: 'Failure', reason: 'NonZeroExitCode' },
  {
    status: 'Failure',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: 'x' }] },
  },
])('is not known of a command that did not run: $message', (status) => {
  expect(exitCodeOf(status)).toBeUndefined()
})

it('is read from what servers send, without a kind', () => {
  expect(exitCodeOf(parseExecStatus('{"metadata":{},"status":"Success"}'))).toBe(0)
  expect(parseExecStatus('no such container\n')).toEqual({ message: 'no such container' })
})
