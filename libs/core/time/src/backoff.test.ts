import fc from 'fast-check'
import { expect, it } from 'vitest'
import { backoffDelayMs } from './backoff.ts'

const backoff = { initialMs: 100, maxMs: 5_000, factor: 2, jitter: 0.5 }

it('grows by the factor up to the maximum', () => {
  const delays = [0, 1, 2, 3, 10, 5_000].map((attempt) => backoffDelayMs(backoff, attempt, () => 0))
  expect(delays).toEqual([100, 200, 400, 800, 5_000, 5_000])
})

it('stays between the jittered and the full delay', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, draw) => {
      const full = backoffDelayMs(backoff, attempt, () => 0)
      const delay = backoffDelayMs(backoff, attempt, () => draw)
      expect(delay).toBeLessThanOrEqual(full)
      expect(delay).toBeGreaterThanOrEqual(full / 2)
    }),
  )
})
