import { expect, it } from 'vitest'
import { isSameOwner, type Owner } from './owner.ts'

it.each<[Owner, Owner, boolean]>([
  ['pod/shop/db', 'pod/shop/db', true],
  ['pod/shop/db', 'pod/shop/web', false],
  ['pod/shop/db', 'statefulset-pod/shop/db', true],
  ['port/shop/db', 'reservation/shop/db', true],
  ['vm/shop/db', 'reservation/shop/db', true],
  ['vm/shop/db', 'reservation/shop/web', false],
  ['vm/shop/db', 'pod/shop/db', false],
  ['vip/db', 'node/db', false],
])('%s and %s are the same owner: %s', (a, b, same) => {
  expect([isSameOwner(a, b), isSameOwner(b, a)]).toEqual([same, same])
})
