import { expect, it } from 'vitest'
import type { Desired } from './feature.ts'
import { MissingColumns } from './missing-columns.ts'
import { catalog, kinds, row } from './plan-fixture.ts'
import { singletonRef } from './want.ts'

const web = { kind: 'lsp', id: 'web' }
const desired: Pick<Desired, 'rows' | 'members'> = {
  rows: [
    {
      ...row(kinds.lsp, 'web', { tag: 5, dhcpv4_options: { kind: 'dhcp', id: 'd' }, options: { a: '1' } }),
      onInsert: { tag: 6, addresses: ['x'] },
    },
    row(kinds.dhcp, 'd', { cidr: '10.0.0.0/24' }),
  ],
  members: [
    { of: { kind: 'ls', id: 'blue' }, column: 'ports', value: web },
    { of: { kind: 'pg', id: 'g' }, column: 'ports', value: web },
    { of: { kind: 'ls', id: 'blue' }, column: 'load_balancer', value: { kind: 'lb', id: 'lb' } },
    { of: singletonRef('NB_Global'), column: 'options', key: 'k', value: 'v' },
  ],
}

function without(...names: readonly string[]) {
  const { rows, members } = new MissingColumns(names, catalog).without(desired)
  return {
    rows: rows.map(({ id, columns, onInsert }) =>
      [id, ...Object.keys({ ...columns, ...onInsert })].join(' '),
    ),
    members: members.map(({ of, column }) => (of.kind === 'singleton' ? column : `${of.kind}.${column}`)),
    columns: rows[0]?.columns,
  }
}

it('changes nothing when nothing is missing', () => {
  expect(new MissingColumns([], catalog).without(desired)).toBe(desired)
})

it('leaves out a column, of new rows too', () => {
  const { rows, members } = without('Logical_Switch_Port.tag')
  expect(rows).toEqual(['web name dhcpv4_options options addresses', 'd cidr'])
  expect(members).toHaveLength(4)
})

it('leaves out the rows of a table, and references to them', () => {
  const { rows, members, columns } = without('DHCP_Options', 'Load_Balancer')
  expect(rows).toEqual(['web name tag dhcpv4_options options addresses'])
  expect(columns).toMatchObject({ dhcpv4_options: undefined, options: { a: '1' } })
  expect(members).toEqual(['ls.ports', 'pg.ports', 'options'])
})

it('leaves out values in a missing column, and a row that only this column would keep', () => {
  expect(without('NB_Global.options').members).toHaveLength(3)
  expect(without('Logical_Switch.load_balancer').rows).toHaveLength(2)
  const { rows, members } = without('Logical_Switch.ports')
  expect(rows).toEqual(['d cidr'])
  expect(members).not.toContain('ls.ports')
})
