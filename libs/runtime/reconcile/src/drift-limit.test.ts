import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { DriftLimit } from './drift-limit.ts'

it('answers ten times at once, then once a second until the window ends', () => {
  const clock = new ManualClock()
  const limit = new DriftLimit(clock)
  const told = Array.from({ length: 10 }, () => {
    expect(limit.pauseMs('a/x')).toBe(0)
    return limit.healed('a/x')
  })
  expect(told.filter(Boolean)).toHaveLength(1)
  expect(limit.pauseMs('a/x')).toBe(1000)
  expect(limit.pauseMs('a/y')).toBe(0)
  clock.advance(9_999)
  expect(limit.pauseMs('a/x')).toBe(1000)
  clock.advance(1)
  expect(limit.pauseMs('a/x')).toBe(0)
  expect(limit.healed('a/x')).toBe(false)
  expect(limit.pauseMs('a/x')).toBe(0)
})
