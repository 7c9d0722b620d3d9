import { beforeEach, describe, expect, it } from 'vitest'
import { leaveBundleIfThrows, leaveBundleOnFailure } from './index.ts'

/** Run by bundle.it.test.ts: tests that fail, and one that does not. */
let seen = ''
beforeEach(() => {
  leaveBundleOnFailure({
    world: () => Promise.resolve({ 'world/state.txt': `seen: ${seen}` }),
    broken: () => Promise.reject(new Error('there is no world')),
  })
})

describe('a suite', () => {
  it('fails: with / odd "characters"', () => {
    seen = 'the end'
    expect(seen).toBe('something else')
  })

  it('passes', () => {
    expect(seen).toBe('the end')
  })

  it('runs out of time', { timeout: 100 }, async () => {
    seen = 'no end'
    await new Promise(() => undefined)
    expect(seen).toBe('an end')
  })

  it('holds a set-up that throws', async () => {
    const error = Object.assign(new Error('it did not start'), { details: { address: '10.16.0.9' } })
    const action = (): Promise<never> => Promise.reject(error)
    const sources = { world: () => Promise.resolve({ 'state.txt': 'nothing' }) }
    await expect(leaveBundleIfThrows('a set-up', sources, action)).rejects.toThrow('it did not start')
  })
})
