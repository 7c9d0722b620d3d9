import { describe, expect, it } from 'vitest'
import { percentile, rounded } from './statistics.ts'

describe('percentile', () => {
  it('is a value that occurs', () => {
    expect(percentile([5, 1, 3], 0.5)).toBe(3)
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2)
    expect(percentile([1, 2, 3], 0.99)).toBe(3)
    expect(percentile([7], 0)).toBe(7)
  })

  it('is no number for no values', () => {
    expect(percentile([], 0.5)).toBeNaN()
  })
})

describe('rounded', () => {
  it('keeps three digits', () => {
    expect(rounded(1234.5)).toBe(1230)
    expect(rounded(0.012345)).toBe(0.0123)
  })
})
