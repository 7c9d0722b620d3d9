import { describe, expect, it } from 'vitest'
import { generationAfter, hasContent } from './generation.ts'

describe('hasContent', () => {
  it.each([
    { present: { spec: { a: 1, b: [1] } }, wanted: { spec: { b: [1] } }, has: true },
    { present: { spec: { b: [1] } }, wanted: { spec: { b: [1, 2] } }, has: false },
    { present: { spec: {} }, wanted: { spec: { a: null } }, has: true },
    { present: { spec: { a: 0 } }, wanted: { spec: { a: null } }, has: false },
    { present: {}, wanted: { spec: {} }, has: false },
    { present: {}, wanted: { spec: undefined }, has: true },
  ])('$has of $wanted in $present', ({ present, wanted, has }) => {
    expect(hasContent(present, wanted)).toBe(has)
  })
})

describe('generationAfter', () => {
  const object = { metadata: { name: 'a', generation: 4 }, status: { observedGeneration: 4 } }

  it('is the same when nothing is written, and the next one when anything is', () => {
    expect(generationAfter(object, { status: { observedGeneration: 4 } })).toBe(4)
    expect(generationAfter(object, { status: { observedGeneration: 4, mac: 'x' } })).toBe(5)
  })

  it('is unknown of an object that has none', () => {
    expect(generationAfter({ metadata: { name: 'a' } }, {})).toBe(undefined)
  })
})
