import { describe, expect, it } from 'vitest'
import { catalogOf, selectionOf } from './catalog.ts'
import { catalog, kinds, schema } from './plan-fixture.ts'

describe('catalogOf', () => {
  it('reads the shapes of columns', () => {
    const columns = catalog.tables.get('Logical_Switch_Port')?.columns
    expect(columns?.get('name')).toMatchObject({ shape: 'one', initial: '' })
    expect(columns?.get('tag')).toMatchObject({ shape: 'optional', initial: undefined })
    expect(columns?.get('addresses')).toMatchObject({ shape: 'set' })
    expect(columns?.get('options')).toMatchObject({ shape: 'map' })
    expect(columns?.get('dhcpv4_options')).toMatchObject({
      shape: 'optional',
      refTable: 'DHCP_Options',
      isWeak: true,
    })
    expect(catalog.tables.get('Logical_Switch_Port')?.isRoot).toBe(false)
  })

  it('takes all tables for root when none says so', () => {
    const one = { name: 'd', version: '1', tables: { T: { columns: {} } } }
    expect(catalogOf(one, []).tables.get('T')?.isRoot).toBe(true)
  })

  it('refuses a kind that two features claim', () => {
    const claims = ['a', 'b'].map((name) => ({ name, kinds: [kinds.ls] }))
    expect(() => catalogOf(schema, claims)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ kind: 'ls', features: ['a', 'b'] }) }),
    )
  })

  it.each([
    ['a table that the schema lacks', { ...kinds.ls, table: 'ACL' as const }, 'reconcile-unknown-table'],
    ['a shared column that the schema lacks', { ...kinds.ls, shared: ['acls'] }, 'reconcile-unknown-table'],
    [
      'a table without external_ids',
      { ...kinds.ls, table: 'NB_Global' as const },
      'reconcile-unmarkable-table',
    ],
    [
      'a composed column that others refer to',
      { ...kinds.pg, composed: ['ports'] },
      'reconcile-uncomposable-column',
    ],
    ['a composed column that is not shared', { ...kinds.set, shared: [] }, 'reconcile-uncomposable-column'],
  ])('refuses %s', (_name, kind, code) => {
    expect(() => catalogOf(schema, [{ name: 'a', kinds: [kind] }])).toThrow(expect.objectContaining({ code }))
  })
})

describe('selectionOf', () => {
  it('asks for indexes over marks, shared columns and parents', () => {
    const child = { ...kinds.lsp, name: 'child', parent: ['Logical_Switch', 'ports'] as const }
    expect(selectionOf(catalogOf(schema, [{ name: 'a', kinds: [kinds.pg, child] }]))).toEqual({
      Port_Group: { indexes: ['external_ids:id', 'external_ids:owner', 'ports'] },
      Logical_Switch_Port: { indexes: ['external_ids:id', 'external_ids:owner'] },
      Logical_Switch: { indexes: ['ports'] },
    })
  })
})
