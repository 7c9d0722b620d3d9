import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatGoDuration, parseGoDuration } from './go-duration.ts'

describe('parseGoDuration', () => {
  it.each([
    ['30s', 30_000],
    ['1h15m30.918s', 4_530_918],
    ['1.5h', 5_400_000],
    ['-2m', -120_000],
    ['+5s', 5_000],
    ['.5s', 500],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['0', 0],
  ])('reads %s', (text, ms) => expect(parseGoDuration(text)).toBe(ms))

  it.each(['', '30', 's', '30 s', '1h 5m', '1d', '5s!', '--1s', '.s', '1e3s'])('refuses %j', (text) =>
    expect(parseGoDuration(text)).toBeUndefined(),
  )

  it('reads back what formatGoDuration prints', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e10, max: 1e10 }), (ms) => {
        expect(parseGoDuration(formatGoDuration(ms))).toBeCloseTo(ms, 4)
      }),
    )
  })
})

describe('formatGoDuration', () => {
  it.each([
    [0, '0s'],
    [250, '250ms'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [4_530_918, '1h15m30.918s'],
    [-120_000, '-2m0s'],
  ])('prints %d ms as Go does', (ms, text) => expect(formatGoDuration(ms)).toBe(text))
})
