import { describe, expect, it } from 'vitest'
import { generationAfter } from './generation.ts'

describe('generationAfter', () => {
  const object = { metadata: { name: 'a', generation: 4 }, status: { observedGeneration: 4 } }

  it('is the same when nothing is written, and the next one when anything is', () => {
    expect(generationAfter(object, { status: { observedGeneration: 4 } })).toBe(4)
    expect(generationAfter(object, { status: { observedGeneration: 4, mac: 'x' } })).toBe(5)
  })

  it('does not rise for ever by what is never written', () => {
    const labels = { metadata: { labels: { gone: null } } }
    expect(generationAfter(object, labels)).toBe(4)
  })

  it('is unknown of an object that has none', () => {
    expect(generationAfter({ metadata: { name: 'a' } }, {})).toBe(undefined)
  })
})
