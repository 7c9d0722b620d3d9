import { beforeAll, describe, expect, it } from 'vitest'

/** Run by failure-reporter.it.test.ts: fails in every way that there is. */
class TooLate extends Error {
  override readonly name = 'TooLate'
  readonly details = { what: 'four pods ready', seen: 'ErrImageNeverPull' }
}

describe('a group', () => {
  beforeAll(() => {
    throw new TooLate('something did not happen in time', { cause: new Error('aborted') })
  })
  it('is not reached', () => expect(1).toBe(1))
})

it('compares', () => expect({ a: 1 }).toEqual({ a: 2 }))

it('passes, but leaves something behind', () => {
  expect(1).toBe(1)
  void Promise.reject(new Error('nobody waits'))
})
