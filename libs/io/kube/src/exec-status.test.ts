import { expect, it } from 'vitest'
import { exitCodeOf } from './exec-status.ts'

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
