import fc from 'fast-check'
import { expect, it } from 'vitest'
import { homeNicOf, isHomeNic } from './home-nic.ts'
import { ownerOf } from './index.ts'

it.each([
  ['pod', 'shop/web', 'web.shop'],
  ['pod', 'shop/web.eu', 'web.eu.shop'],
  ['vm', 'shop/db', 'db.shop'],
  ['node', 'n1', 'n1'],
] as const)('the NIC of %s/%s is %s', (kind, name, nic) => {
  const owner = ownerOf(kind, name)
  expect(homeNicOf(owner)).toBe(nic)
  expect(isHomeNic(nic, owner)).toBe(true)
})

it('is told from any other name', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/'), maxLength: 5 })
  fc.assert(
    fc.property(text, text, (name, nic) => {
      const owner = ownerOf('pod', name)
      expect(isHomeNic(nic, owner)).toBe(nic === homeNicOf(owner))
    }),
    { numRuns: 2000 },
  )
})
