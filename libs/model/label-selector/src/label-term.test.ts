import { expect, it } from 'vitest'
import { readLabelTerm } from './label-term.ts'

it.each([
  ['app:web', ['app', 'web']],
  [' app : web ', ['app', 'web']],
  ['app:', ['app', '']],
  ['example.com/app:a_B.c-1', ['example.com/app', 'a_B.c-1']],
  ['app', undefined],
  [':web', undefined],
  ['app:web:1', undefined],
  ['app:we b', undefined],
  ['/app:web', undefined],
  ['a/b/c:web', undefined],
  ['-app:web', undefined],
  [`app:${'x'.repeat(63)}`, ['app', 'x'.repeat(63)]],
  [`app:${'x'.repeat(64)}`, undefined],
  [`${'x'.repeat(254)}/app:web`, undefined],
])('reads %j', (text, want) => {
  expect(readLabelTerm(text)).toEqual(want)
})
