import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { readNames, readSchema } from './offered-schema.ts'

it('takes a schema as it is', () => {
  expect(readSchema(ovnNorthboundSchema)).toBe(ovnNorthboundSchema)
})

it.each([
  null,
  'OVN_Northbound',
  {},
  { tables: null },
  { tables: { T: {} } },
  { tables: { T: { columns: [7] } } },
  { tables: { T: { columns: { c: {} } } } },
])('refuses %j', (answer) => {
  expect(() => readSchema(answer)).toThrow(ProtocolError)
})

it('reads the names of databases, and nothing else', () => {
  expect(readNames(['_Server', 'Zoo'])).toEqual(['_Server', 'Zoo'])
  for (const answer of [null, 'Zoo', [7]]) expect(() => readNames(answer)).toThrow(ProtocolError)
})
