import { expect, it } from 'vitest'
import { parseQuestion } from './question.ts'

it.each([
  ['0x9d86efb', { kind: 'row', id: '09d86efb' }],
  ['9d86efbd', { kind: 'row', id: '9d86efbd' }],
  ['EE3E61C0-7e58-4f4a-b979-160fc0c1c85d', { kind: 'row', id: 'ee3e61c0-7e58-4f4a-b979-160fc0c1c85d' }],
  ['pod/shop/web-0', { kind: 'object', of: { kind: 'Pod' }, key: 'shop/web-0' }],
  ['sample/0x51f3a2c9', { kind: 'sample', cookie: 0x51_f3_a2_c9 }],
  ['sample/1374921417', { kind: 'sample', cookie: 1_374_921_417 }],
  ['subnet/blue', { kind: 'object', of: { kind: 'Subnet' }, key: 'blue' }],
  ['subnet-gw/blue/node-1', { kind: 'object', of: { feature: 'subnet-gw' }, key: 'blue/node-1' }],
])('reads %s', (text, question) => {
  expect(parseQuestion(text)).toMatchObject(question)
})

it.each(['blue', 'pod/', '/x', 'pod/a/b/c', '0x123456789'])('refuses %s', (text) => {
  expect(() => parseQuestion(text)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ value: text }) }),
  )
})

it('refuses a kind that there is not', () => {
  expect(() => parseQuestion('sample/blue')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field: 'kind', value: 'sample' }) }),
  )
})
