import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { readSchema } from './offered-schema.ts'

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
