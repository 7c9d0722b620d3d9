import { describe, expect, it } from 'vitest'
import { hasContent } from './has-content.ts'

describe('hasContent', () => {
  it.each([
    { present: { spec: { a: 1, b: [1] } }, wanted: { spec: { b: [1] } }, has: true },
    { present: { spec: { b: [1] } }, wanted: { spec: { b: [1, 2] } }, has: false },
    { present: { spec: {} }, wanted: { spec: { a: null } }, has: true },
    { present: { spec: { a: 0 } }, wanted: { spec: { a: null } }, has: false },
    { present: {}, wanted: { spec: {} }, has: false },
    { present: {}, wanted: { spec: undefined }, has: true },
    // The server has the keys of an object in an order of its own.
    {
      present: { conditions: [{ status: 'True', type: 'Ready' }] },
      wanted: { conditions: [{ type: 'Ready', status: 'True' }] },
      has: true,
    },
    { present: {}, wanted: { labels: { a: null } }, has: true },
    { present: { spec: { mtu: 1400n } }, wanted: { spec: { mtu: 1400 } }, has: true },
  ])('$has of $wanted in $present', ({ present, wanted, has }) => {
    expect(hasContent(present, wanted)).toBe(has)
  })
})
