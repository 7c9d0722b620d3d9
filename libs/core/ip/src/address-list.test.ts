import { expect, it } from 'vitest'
import { AddressList, formatIpList, parseIpList, type AddressSpan } from './index.ts'

function span(text: string, count: number): AddressSpan {
  return { first: parseIpList(text), count }
}

const list = new AddressList([span('10.0.0.5,fd00::5', 3), span('0.0.0.0', 2), span('10.0.0.6,fd00::9', 1)])
const texts = [
  '10.0.0.5,fd00::5',
  '10.0.0.6,fd00::6',
  '10.0.0.7,fd00::7',
  '0.0.0.0',
  '0.0.0.1',
  '10.0.0.6,fd00::9',
]

it('gives its entries in order, one by one and by number', () => {
  expect([...list].map((entry) => formatIpList(entry))).toEqual(texts)
  expect(texts.map((_, index) => formatIpList(list.at(index) ?? {}))).toEqual(texts)
  expect(list).toHaveLength(6)
  expect([list.at(6), list.at(-1)]).toEqual([undefined, undefined])
})

it.each([
  ['10.0.0.6,fd00::6', '10.0.0.6,fd00::6'],
  ['10.0.0.6,fd00::9', '10.0.0.6,fd00::9'],
  ['0.0.0.1,fd00::6', '0.0.0.1'],
  ['10.0.0.5,fd00::6', undefined],
  ['10.0.0.5', undefined],
  ['10.0.0.4,fd00::4', undefined],
  ['10.0.0.8,fd00::8', undefined],
])('finds in %s the entry %s', (held, entry) => {
  const found = list.within(parseIpList(held))
  expect(found && formatIpList(found)).toBe(entry)
})

it('prints ranges as such', () => {
  expect(String(list)).toBe('10.0.0.5..10.0.0.7,fd00::5..fd00::7;0.0.0.0..0.0.0.1;10.0.0.6,fd00::9')
})
