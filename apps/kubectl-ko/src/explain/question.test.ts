import { expect, it } from 'vitest'
import { parseQuestion } from './question.ts'

it.each([
  ['0x9d86efb', { kind: 'row', id: '09d86efb' }],
  ['9d86efbd', { kind: 'row', id: '9d86efbd' }],
  ['EE3E61C0-7e58-4f4a-b979-160fc0c1c85d', { kind: 'row', id: 'ee3e61c0-7e58-4f4a-b979-160fc0c1c85d' }],
  ['pod/shop/web-0', { kind: 'object', of: 'pod', key: 'shop/web-0' }],
  ['subnet/blue', { kind: 'object', of: 'subnet', key: 'blue' }],
])('reads %s', (text, question) => {
  expect(parseQuestion(text)).toEqual(question)
})

it.each(['blue', 'pod/', '/x', 'pod/a/b/c', '0x123456789'])('refuses %s', (text) => {
  expect(() => parseQuestion(text)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ value: text }) }),
  )
})
