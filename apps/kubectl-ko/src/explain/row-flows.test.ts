import { expect, it } from 'vitest'
import { flowsOfRow, setSizes } from './row-flows.ts'

const sizes = setSizes([
  ['Address_Set', { name: 'many', addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] }],
  // ovn-nbctl prints a set of one as its member.
  ['Address_Set', { name: 'one', addresses: '10.0.0.1' }],
  ['Address_Set', { name: 'none', addresses: [] }],
  ['Port_Group', { name: 'web', ports: [] }],
])

it.each<
  [what: string, table: string, row: { readonly match?: string; readonly action?: string }, flows?: number]
>([
  ['new and known connections', 'ACL', { match: 'outport == @web && ip4.src == $many', action: 'drop' }, 6],
  ['all packets alike', 'ACL', { match: 'outport == @web && ip4.src == $many', action: 'pass' }, 3],
  ['one address', 'ACL', { match: 'ip4.src == $one && ip4.src != $none', action: 'pass' }, 1],
  ['a set that is not known', 'ACL', { match: 'ip4.src == $others', action: 'drop' }],
  ['what is no ACL', 'Logical_Router_Policy', { match: 'ip4', action: 'drop' }],
])('tells how many OpenFlow rules a row is: %s', (_what, table, row, flows) => {
  expect(flowsOfRow(table, row, sizes)).toBe(flows)
})
