import { expect, it } from 'vitest'
import { mappingOf, withMapping } from './mappings.ts'

it.each([
  { text: undefined, value: 'br-quay', next: 'quay:br-quay' },
  { text: 'foreign:br-x', value: 'br-quay', next: 'foreign:br-x,quay:br-quay' },
  { text: 'quay:br-old,foreign:br-x', value: 'br-quay', next: 'quay:br-quay,foreign:br-x' },
  { text: 'a:b,quay:br-old,c:d,quay:br-older', value: 'br-quay', next: 'a:b,quay:br-quay,c:d' },
  { text: 'foreign:br-x, quay:br-quay', value: 'br-quay', next: 'foreign:br-x, quay:br-quay' },
  { text: 'foreign:br-x,quay:br-quay', value: undefined, next: 'foreign:br-x' },
  { text: 'quay:br-quay', value: undefined, next: undefined },
  { text: 'foreign:br-x', value: undefined, next: 'foreign:br-x' },
  { text: undefined, value: undefined, next: undefined },
])('makes $next of $text with $value', ({ text, value, next }) => {
  expect(withMapping(text, 'quay', value)).toBe(next)
})

it('finds the value of a network', () => {
  expect(mappingOf('a:b, quay:br-quay', 'quay')).toBe('br-quay')
  expect(mappingOf('a:b', 'quay')).toBeUndefined()
})
