import { expect, it } from 'vitest'
import { isNamedAfter, isNamedAfterGroup } from './rows.ts'

it.each<[object: string, id: string, isSo: boolean]>([
  ['red', 'red', true],
  ['red', 'red/4', true],
  ['red/n1', 'red/n1/4', true],
  ['red', 'red-1/4', false],
  ['red', 'blue', false],
  ['red-1', 'red', false],
])('what is of %s may be called %s: %s', (object, id, isSo) => {
  expect(isNamedAfter(object, id)).toBe(isSo)
})

it.each<[group: string, id: string, isSo: boolean]>([
  ['ovn.sg.red', 'ovn.sg.red', true],
  ['ovn.sg.red', 'ovn.sg.red/to-lport/2/1000/ip4', true],
  ['ovn.sg.red', 'ovn.sg.red.associated.v4', true],
  ['web.shop', 'web.shop_to-lport_meter', true],
  ['web.shop', 'web.shop.0b1c/to-lport/1/ip4', true],
  ['web.shop', 'web.shopping', false],
  ['web.shop', 'db.shop', false],
])('what is of the group %s may be called %s: %s', (group, id, isSo) => {
  expect(isNamedAfterGroup(group, id)).toBe(isSo)
})
