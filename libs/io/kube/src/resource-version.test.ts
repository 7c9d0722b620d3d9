import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareResourceVersions } from './resource-version.ts'

it('orders versions as the numbers they are', () => {
  const version = fc.bigInt({ min: 1n, max: 2n ** 70n })
  fc.assert(
    fc.property(version, version, (a, b) => {
      const expected = a < b ? -1 : a > b ? 1 : 0
      expect(Math.sign(compareResourceVersions(String(a), String(b)))).toBe(expected)
    }),
  )
})

it('takes a missing version for the oldest', () => {
  expect(compareResourceVersions(undefined, '1')).toBeLessThan(0)
  expect(compareResourceVersions(undefined, undefined)).toBe(0)
})
