import { describe, expect, it } from 'vitest'
import { columnTypeScript, interfaceName } from './render.ts'

describe.each([
  { name: 'one value', type: { key: 'string' }, want: 'string' },
  { name: 'one number', type: { key: { type: 'integer', minInteger: 1 } }, want: 'number' },
  { name: 'a value that may be absent', type: { key: 'boolean', min: 0 }, want: 'boolean | undefined' },
  { name: 'a set', type: { key: 'uuid', min: 0, max: 'unlimited' as const }, want: 'readonly string[]' },
  { name: 'a set of two at most', type: { key: 'real', min: 0, max: 2 }, want: 'readonly number[]' },
  {
    name: 'a set of listed values',
    type: { key: { type: 'string', enum: ['set', ['a', 'b']] }, min: 0, max: 'unlimited' as const },
    want: 'readonly ("a" | "b")[]',
  },
  { name: 'the only listed value', type: { key: { type: 'string', enum: 'a' } }, want: '"a"' },
  {
    name: 'a map with number keys',
    type: { key: 'integer', value: 'uuid', min: 0, max: 'unlimited' as const },
    want: 'Readonly<Record<string, string>>',
  },
  {
    name: 'a map of one entry',
    type: { key: 'string', value: 'integer', min: 0 },
    want: 'Readonly<Record<string, number>>',
  },
])('columnTypeScript', ({ name, type, want }) => {
  it(`renders ${name}`, () => expect(columnTypeScript(type)).toBe(want))
})

it('refuses an atomic type that RFC 7047 does not know', () => {
  expect(() => columnTypeScript({ key: 'float' })).toThrow('float')
})

it.each([
  ['Logical_Switch', 'LogicalSwitch'],
  ['DHCP_Options', 'DhcpOptions'],
  ['HA_Chassis_Group', 'HaChassisGroup'],
  ['NAT', 'Nat'],
  ['QoS', 'QoS'],
  ['Open_vSwitch', 'OpenVSwitch'],
])('names the row type of %s %s', (table, want) => expect(interfaceName(table)).toBe(want))
