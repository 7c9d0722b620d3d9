import type { RowRef } from '@kube-ovn/ovn-names'
import type { RowBase } from 'ovsdb-client'
import { describe, expect, it } from 'vitest'
import { Adoption } from './adoption.ts'
import { LocalRows } from './local-rows.ts'
import { planRows } from './plan.ts'
import { catalog, kinds, planOn, port, reconcile, row, schema, want } from './plan-fixture.ts'
import { columnOf, elementsOf, mapOf } from './rows.ts'
import { singletonRef } from './want.ts'

function named(rows: LocalRows, table: string, name: string): RowBase {
  const found = rows.find(table, 'name', name)[0]
  if (found === undefined) throw new Error(`no ${table} ${name}`)
  return found
}

describe('planRows', () => {
  it('inserts a switch and its port in one plan, marked', () => {
    const rows = new LocalRows(schema)
    const plan = reconcile(rows, [
      port('web', 'blue', { addresses: ['dynamic'] }),
      want('blue', [row(kinds.ls, 'blue')]),
    ])
    expect(plan.steps.map((step) => step.do)).toEqual(['insert', 'insert'])
    const web = named(rows, 'Logical_Switch_Port', 'web')
    expect(mapOf(web, 'external_ids')).toEqual({ vendor: 'kube-ovn', owner: 'net/web', id: 'lsp/web' })
    expect(elementsOf(named(rows, 'Logical_Switch', 'blue'), 'ports')).toEqual([web._uuid])
  })

  it('adds the ports of many keys to a switch in one operation', () => {
    const rows = new LocalRows(schema)
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
    const plan = reconcile(rows, [port('a', 'blue'), port('b', 'blue'), port('c', 'blue')])
    expect(plan.steps.filter((step) => step.do === 'mutate')).toHaveLength(1)
    expect(elementsOf(named(rows, 'Logical_Switch', 'blue'), 'ports')).toHaveLength(3)
  })

  it('moves a port between switches and keeps its row', () => {
    const rows = new LocalRows(schema)
    const switches = want('both', [row(kinds.ls, 'blue'), row(kinds.ls, 'red')])
    reconcile(rows, [switches, port('web', 'blue')])
    const before = named(rows, 'Logical_Switch_Port', 'web')._uuid
    reconcile(rows, [port('web', 'red')])
    expect(elementsOf(named(rows, 'Logical_Switch', 'blue'), 'ports')).toEqual([])
    expect(elementsOf(named(rows, 'Logical_Switch', 'red'), 'ports')).toEqual([before])
  })

  it('removes a port by its reference, and a switch by itself', () => {
    const rows = new LocalRows(schema)
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), port('web', 'blue')])
    const plan = reconcile(rows, [want('web', [])])
    expect(plan.steps.map((step) => step.do)).toEqual(['mutate'])
    expect(plan.outcomes.map(({ outcome, id }) => [outcome, id])).toEqual([['deleted', 'lsp/web']])
    expect([...rows.scan('Logical_Switch_Port')]).toEqual([])
    expect(reconcile(rows, [want('blue', [])]).steps.map((step) => step.do)).toEqual(['delete'])
  })

  it('takes what goes with a port out of it, since the server looks at references before it collects the port', () => {
    const rows = new LocalRows(schema)
    const web = port('web', 'blue', { ha_chassis_group: { kind: 'hacg', id: 'web' } })
    const both = want('web', [...web.desired.rows, row(kinds.hacg, 'web')], web.desired.members)
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), both])
    expect(elementsOf(named(rows, 'Logical_Switch_Port', 'web'), 'ha_chassis_group')).toHaveLength(1)
    const plan = reconcile(rows, [want('web', [])])
    expect(plan.outcomes.map(({ outcome, id }) => [outcome, id])).toEqual([
      ['deleted', 'lsp/web'],
      ['deleted', 'hacg/web'],
    ])
    expect([...rows.scan('HA_Chassis_Group'), ...rows.scan('Logical_Switch_Port')]).toEqual([])
    expect(planOn(rows, [want('web', [])]).steps).toEqual([])
  })

  it('takes a port that goes out of a group which the same transaction changes, where the server may forget it', () => {
    const rows = new LocalRows(schema)
    const inGroup = (id: string) => ({
      of: { kind: 'pg', id: 'web' },
      column: 'ports',
      value: { kind: 'lsp', id },
    })
    const grouped = ['a', 'b'].map((id) => ({
      ...port(id, 'blue'),
      desired: { ...port(id, 'blue').desired, members: [...port(id, 'blue').desired.members, inGroup(id)] },
    }))
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), want('web', [row(kinds.pg, 'web')]), ...grouped])
    // The first one leaves the group only.
    reconcile(rows, [port('a', 'blue'), want('b', [])])
    expect(elementsOf(named(rows, 'Port_Group', 'web'), 'ports')).toEqual([])
  })

  it('leaves it to the server to take a port that goes out of a group that nothing else changes', () => {
    const rows = new LocalRows(schema)
    const inGroup = { of: { kind: 'pg', id: 'web' }, column: 'ports', value: { kind: 'lsp', id: 'a' } }
    const grouped = want('a', [row(kinds.lsp, 'a')], [...port('a', 'blue').desired.members, inGroup])
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), want('web', [row(kinds.pg, 'web')]), grouped])
    expect(reconcile(rows, [want('a', [])]).steps).toHaveLength(1)
    expect(elementsOf(named(rows, 'Port_Group', 'web'), 'ports')).toEqual([])
  })

  it('leaves entries of others in a shared map, and removes what is asked for as undefined', () => {
    const rows = new LocalRows(schema)
    reconcile(rows, [
      want('blue', [row(kinds.ls, 'blue', { other_config: { subnet: '10.0.0.0/24', mcast: 'x' } })]),
    ])
    const { _uuid } = named(rows, 'Logical_Switch', 'blue')
    const mutations = [['other_config', 'insert', { stranger: '1' }]] as const
    rows.apply([{ do: 'mutate', table: 'Logical_Switch', uuid: _uuid, mutations }])
    const columns = { other_config: { subnet: '10.1.0.0/24', mcast: undefined } }
    const plan = reconcile(rows, [want('blue', [row(kinds.ls, 'blue', columns)])])
    expect(plan.steps.map((step) => step.do)).toEqual(['mutate'])
    expect(mapOf(named(rows, 'Logical_Switch', 'blue'), 'other_config')).toEqual({
      subnet: '10.1.0.0/24',
      stranger: '1',
    })
  })

  it('replaces an exact map as a whole', () => {
    const rows = new LocalRows(schema)
    const lb = (vips: Record<string, string>) => want('lb', [row(kinds.lb, 'lb', { vips })])
    reconcile(rows, [lb({ a: '1', b: '2' })])
    reconcile(rows, [lb({ b: '3' })])
    expect(mapOf(named(rows, 'Load_Balancer', 'lb'), 'vips')).toEqual({ b: '3' })
  })

  it('changes a large set by its difference', () => {
    const rows = new LocalRows(schema)
    const addresses = Array.from({ length: 40 }, (_, n) => `10.0.0.${n}`)
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), port('web', 'blue', { addresses })])
    const plan = reconcile(rows, [port('web', 'blue', { addresses: [...addresses.slice(1), '10.0.0.99'] })])
    expect(plan.steps).toEqual([
      {
        do: 'mutate',
        table: 'Logical_Switch_Port',
        uuid: named(rows, 'Logical_Switch_Port', 'web')._uuid,
        mutations: [
          ['addresses', 'delete', ['10.0.0.0']],
          ['addresses', 'insert', ['10.0.0.99']],
        ],
      },
    ])
    expect(
      planOn(rows, [port('web', 'blue', { addresses: [...addresses.slice(1), '10.0.0.99'] })]).steps,
    ).toEqual([])
  })

  it('keeps what was generated for a new row', () => {
    const rows = new LocalRows(schema)
    const ls = (mac: string) =>
      want('blue', [{ ...row(kinds.ls, 'blue'), onInsert: { other_config: { mac } } }])
    reconcile(rows, [ls('first')])
    expect(reconcile(rows, [ls('second')]).steps).toEqual([])
    expect(mapOf(named(rows, 'Logical_Switch', 'blue'), 'other_config')).toEqual({ mac: 'first' })
  })

  it('has a key wait whose container is missing, and not its neighbours', () => {
    const rows = new LocalRows(schema)
    const plan = reconcile(rows, [
      port('web', 'nowhere'),
      want('blue', [row(kinds.ls, 'blue')]),
      port('db', 'blue'),
    ])
    expect(plan.waiting).toEqual(new Map([['net/web', [{ kind: 'ls', id: 'nowhere' }]]]))
    expect([...rows.scan('Logical_Switch_Port')]).toHaveLength(1)
  })

  it('has a key wait that refers to a row of one that waits', () => {
    const rows = new LocalRows(schema)
    const group = want('group', [row(kinds.group, 'g')], [])
    const lb = want(
      'lb',
      [row(kinds.lb, 'lb')],
      [{ of: { kind: 'ls', id: 'no' }, column: 'load_balancer', value: { kind: 'lb', id: 'lb' } }],
    )
    const dependent = want('p', [row(kinds.lsp, 'p', { dhcpv4_options: { kind: 'lb', id: 'lb' } })])
    const plan = reconcile(rows, [group, lb, dependent])
    expect([...plan.waiting.keys()]).toEqual(['net/lb', 'net/p'])
    expect(plan.touched).toEqual(new Set(['net/group']))
  })

  it('leaves out a weak reference in a set until its row exists', () => {
    const rows = new LocalRows(schema)
    const group = want('g', [row(kinds.group, 'g', { ports: ['a', 'b'].map((id) => ({ kind: 'lsp', id })) })])
    const plan = reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), port('a', 'blue'), group])
    expect(plan.awaited).toEqual(new Map([['net/g', [{ kind: 'lsp', id: 'b' }]]]))
    expect(elementsOf(named(rows, 'Port_Group', 'g'), 'ports')).toHaveLength(1)
    reconcile(rows, [port('b', 'blue')])
    reconcile(rows, [group])
    expect(elementsOf(named(rows, 'Port_Group', 'g'), 'ports')).toHaveLength(2)
  })

  it('does not refer to a row that the same plan removes', () => {
    const rows = new LocalRows(schema)
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
    const plan = reconcile(rows, [want('blue', []), port('web', 'blue')])
    expect([...plan.waiting.keys()]).toEqual(['net/web'])
    expect([...rows.scan('Logical_Switch')]).toEqual([])
  })

  it('adopts the row that upstream wrote', () => {
    const rows = new LocalRows(schema)
    const uuid = rows.insert('Logical_Switch', {
      name: 'blue',
      external_ids: { vendor: 'kube-ovn', old: 'yes' },
    })
    const plan = reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
    expect(plan.outcomes).toEqual([
      {
        outcome: 'adopted',
        owner: 'net/blue',
        id: 'ls/blue',
        table: 'Logical_Switch',
        columns: ['external_ids'],
      },
    ])
    const adopted = named(rows, 'Logical_Switch', 'blue')
    expect(adopted._uuid).toBe(uuid)
    expect(mapOf(adopted, 'external_ids')).toEqual({
      vendor: 'kube-ovn',
      old: 'yes',
      owner: 'net/blue',
      id: 'ls/blue',
    })
  })

  describe('of upstream that looks like one of another kind', () => {
    function upstream() {
      const rows = new LocalRows(schema)
      return { rows, uuid: rows.insert('Port_Group', { name: 'g', external_ids: { vendor: 'kube-ovn' } }) }
    }
    const lookalike = want('a', [row(kinds.group, 'g')])
    const inGroup = { of: { kind: 'pg', id: 'g' }, column: 'ports', value: { kind: 'lsp', id: 'p' } }

    it('is adopted as what is wanted', () => {
      const { rows, uuid } = upstream()
      const { outcomes } = reconcile(rows, [lookalike])
      expect(outcomes.map(({ outcome, id }) => [outcome, id])).toEqual([['adopted', 'group/g']])
      expect([...rows.scan('Port_Group')].map((one) => one._uuid)).toEqual([uuid])
      expect(planOn(rows, [lookalike]).steps).toEqual([])
    })

    it('is what it seems to be for a key that wants it so, in whatever order', () => {
      const { rows, uuid } = upstream()
      const { outcomes } = reconcile(rows, [lookalike, want('b', [row(kinds.pg, 'g')])])
      expect(outcomes.map(({ owner, outcome }) => [owner, outcome]).sort()).toEqual([
        ['net/a', 'inserted'],
        ['net/b', 'adopted'],
      ])
      expect(mapOf(rows.get('Port_Group', uuid) ?? { _uuid: '' }, 'external_ids')['id']).toBe('pg/g')
    })

    it('is not referred to as what it seems to be while it becomes the other', () => {
      const { rows } = upstream()
      const member = want('p', [], [inGroup])
      expect([...planOn(rows, [member]).waiting]).toEqual([])
      expect([...planOn(rows, [member, lookalike]).waiting]).toEqual([['net/p', [{ kind: 'pg', id: 'g' }]]])
    })

    it('is recognised by its content when its id was changed', () => {
      const { rows, uuid } = upstream()
      const columns = { external_ids: { vendor: 'kube-ovn', owner: 'net/a', id: 'group/other' } }
      rows.apply([{ do: 'update', table: 'Port_Group', uuid, columns }])
      reconcile(rows, [lookalike])
      expect([...rows.scan('Port_Group')].map((one) => one._uuid)).toEqual([uuid])
    })
  })

  it('recognises a row of its own whose id was changed', () => {
    const rows = new LocalRows(schema)
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
    const { _uuid: uuid } = named(rows, 'Logical_Switch', 'blue')
    const columns = { external_ids: { vendor: 'kube-ovn', owner: 'net/blue', id: 'ls/other' } }
    rows.apply([{ do: 'update', table: 'Logical_Switch', uuid, columns }])
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
    expect(mapOf(named(rows, 'Logical_Switch', 'blue'), 'external_ids')['id']).toBe('ls/blue')
    expect(named(rows, 'Logical_Switch', 'blue')._uuid).toBe(uuid)
  })

  it('keeps one of two rows with the same id', () => {
    const rows = new LocalRows(schema)
    const ids = { vendor: 'kube-ovn', owner: 'net/blue', id: 'ls/blue' }
    const first = rows.insert('Logical_Switch', { name: 'blue', external_ids: ids })
    rows.insert('Logical_Switch', { name: 'blue', external_ids: ids })
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
    expect([...rows.scan('Logical_Switch')].map((one) => one._uuid)).toEqual([first])
  })

  it('hands a row from one key to another', () => {
    const rows = new LocalRows(schema)
    reconcile(rows, [want('old', [row(kinds.ls, 'blue')])])
    const { _uuid: uuid } = named(rows, 'Logical_Switch', 'blue')
    reconcile(rows, [want('old', []), want('new', [row(kinds.ls, 'blue')])])
    const moved = named(rows, 'Logical_Switch', 'blue')
    expect([moved._uuid, mapOf(moved, 'external_ids')['owner']]).toEqual([uuid, 'net/new'])
  })

  it('gives a row that two keys want to one of them', () => {
    const rows = new LocalRows(schema)
    const plan = reconcile(rows, [want('b', [row(kinds.ls, 'x')]), want('a', [row(kinds.ls, 'x')])])
    expect([...plan.problems].map(([owner, { code }]) => [owner, code])).toEqual([
      ['net/b', 'reconcile-row-claimed-twice'],
    ])
    expect(mapOf(named(rows, 'Logical_Switch', 'x'), 'external_ids')['owner']).toBe('net/a')
  })

  it.each([
    ['an unknown column', want('k', [row(kinds.ls, 'k', { nonsense: 1 })]), 'nonsense'],
    ['a shared column', want('k', [row(kinds.ls, 'k', { ports: [] })]), 'ports'],
    ['a map where a value belongs', want('k', [row(kinds.ls, 'k', { name: { a: '1' } })]), 'name'],
    ['a set where a value belongs', want('k', [row(kinds.ls, 'k', { name: ['a'] })]), 'name'],
    [
      'a membership that is not declared',
      want('k', [], [{ of: { kind: 'group', id: 'g' }, column: 'ports', value: 'x' }]),
      'ports',
    ],
    [
      'a row that the feature says its key can not want',
      { ...want('k', [row(kinds.ls, 'k'), row(kinds.ls, 'other')]), mayOwn: ({ id }: RowRef) => id === 'k' },
      undefined,
    ],
  ])('refuses %s and plans the rest', (_name, bad, column) => {
    const plan = planOn(new LocalRows(schema), [bad, want('good', [row(kinds.ls, 'good')])])
    expect(plan.problems.get('net/k')?.code).toBe('reconcile-invalid-desired')
    expect(plan.problems.get('net/k')?.details).toMatchObject({ owner: 'net/k', column })
    expect([...plan.touched]).toEqual(['net/good'])
  })

  it('changes single entries of the only row of a table', () => {
    const rows = new LocalRows(schema)
    const entry = (value: string | undefined) =>
      want('g', [], [{ of: singletonRef('NB_Global'), column: 'options', key: 'mac_prefix', value }])
    expect([...planOn(rows, [entry('0a')]).waiting.keys()]).toEqual(['net/g'])
    const uuid = rows.insert('NB_Global', { options: { other: '1', mac_prefix: '00' } })
    reconcile(rows, [entry('0a')])
    expect(columnOf(rows.get('NB_Global', uuid) ?? { _uuid: '' }, 'options')).toEqual({
      other: '1',
      mac_prefix: '0a',
    })
    expect(planOn(rows, [entry('0a')]).steps).toEqual([])
    reconcile(rows, [entry(undefined)])
    expect(columnOf(rows.get('NB_Global', uuid) ?? { _uuid: '' }, 'options')).toEqual({ other: '1' })
  })

  it('releases a value that it contributed before', () => {
    const rows = new LocalRows(schema)
    const lb = want('lb', [row(kinds.lb, 'lb')])
    const member = {
      of: { kind: 'ls', id: 'blue' },
      column: 'load_balancer',
      value: { kind: 'lb', id: 'lb' },
    }
    reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), lb, want('user', [], [member])])
    expect(elementsOf(named(rows, 'Logical_Switch', 'blue'), 'load_balancer')).toHaveLength(1)
    reconcile(rows, [{ ...want('user', []), released: [member] }])
    expect(elementsOf(named(rows, 'Logical_Switch', 'blue'), 'load_balancer')).toEqual([])
    expect(catalog.sharedByRefTable.get('Load_Balancer')).toHaveLength(1)
  })
})

it('releases an entry that is what it was contributed as, and in a composed map whatever it is', () => {
  const rows = new LocalRows(schema)
  const uuid = rows.insert('NB_Global', {})
  reconcile(rows, [want('lb', [row(kinds.lb, 'lb')])])
  const entries = (value: string) => [
    { of: { kind: 'lb', id: 'lb' }, column: 'ip_port_mappings', key: 'k', value },
    { of: singletonRef('NB_Global'), column: 'options', key: 'k', value },
  ]
  const found = () => [
    mapOf(named(rows, 'Load_Balancer', 'lb'), 'ip_port_mappings'),
    mapOf(rows.get('NB_Global', uuid) ?? { _uuid: '' }, 'options'),
  ]
  reconcile(rows, [want('user', [], entries('1'))])
  expect(found()).toEqual([{ k: '1' }, { k: '1' }])
  reconcile(rows, [{ ...want('user', []), released: entries('2') }])
  expect(found()).toEqual([{}, { k: '1' }])
  reconcile(rows, [{ ...want('user', []), released: entries('1') }])
  expect(found()).toEqual([{}, {}])
})

it('leaves a row alone that carries its mark by mistake and is held by another key', () => {
  const rows = new LocalRows(schema)
  reconcile(rows, [want('blue', [row(kinds.ls, 'blue')])])
  const [blue] = rows.find('Logical_Switch', 'name', 'blue')
  const external_ids = { vendor: 'kube-ovn', owner: 'net/thief', id: 'ls/blue' }
  rows.apply([{ do: 'update', table: 'Logical_Switch', uuid: blue?._uuid ?? '', columns: { external_ids } }])
  const adoptable = new Adoption(catalog, rows)
  const request = { wants: [want('thief', [])], rows, catalog, adoptable }
  expect(planRows({ ...request, holderOf: () => 'net/blue' }).steps).toEqual([])
  expect(planRows({ ...request, holderOf: () => undefined }).steps).toMatchObject([{ do: 'delete' }])
})

it('sends one entry when one of 10,000 in a map has changed', () => {
  const rows = new LocalRows(schema)
  const vips = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`10.96.0.1:${n}`, '10.16.0.1:80']),
  )
  reconcile(rows, [want('lb', [row(kinds.lb, 'lb', { vips })])])
  const changed = { ...vips, '10.96.0.1:7': '10.16.0.2:80' }
  const plan = reconcile(rows, [want('lb', [row(kinds.lb, 'lb', { vips: changed })])])
  expect(plan.steps.map(({ do: how, ...step }) => [how, 'mutations' in step && step.mutations])).toEqual([
    [
      'mutate',
      [
        ['vips', 'delete', ['10.96.0.1:7']],
        ['vips', 'insert', { '10.96.0.1:7': '10.16.0.2:80' }],
      ],
    ],
  ])
  expect(mapOf(named(rows, 'Load_Balancer', 'lb'), 'vips')).toEqual(changed)
})
