import { expect, it } from 'vitest'
import { Adoption } from './adoption.ts'
import { catalogOf } from './catalog.ts'
import { LocalRows } from './local-rows.ts'
import { kinds, schema } from './plan-fixture.ts'

const ids = { vendor: 'kube-ovn' }
/** A port that is known by its switch. */
const onSwitch = {
  ...kinds.lsp,
  parent: ['Logical_Switch', 'ports'] as const,
  identify: (_row: unknown, parent: { name: string } | undefined) => parent?.name,
}
const catalog = catalogOf(schema, [{ name: 'net', kinds: [kinds.ls, onSwitch] }])
const isWanted = () => false

it('finds rows of the vendor by their content, the lowest of several', () => {
  const rows = new LocalRows(schema)
  const [first] = [1, 2].map(() => rows.insert('Logical_Switch', { name: 'blue', external_ids: ids }))
  rows.insert('Logical_Switch', { name: 'foreign' })
  rows.insert('Logical_Switch', {
    name: 'owned',
    external_ids: { ...ids, owner: 'net/owned', id: 'ls/owned' },
  })
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  expect(adoption.find('ls/blue', isWanted)).toBe(first)
  expect(adoption.leftOver().flatMap(({ ids: known }) => known)).toEqual(['ls/blue', 'ls/blue'])
})

it('follows changes: a row that is adopted, changed or removed is not adoptable any more', () => {
  const rows = new LocalRows(schema)
  const uuid = rows.insert('Logical_Switch', { name: 'blue', external_ids: ids })
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  function change(act: () => void): readonly string[] {
    const old = rows.get('Logical_Switch', uuid)
    act()
    return adoption.follow([{ table: 'Logical_Switch', uuid, old, new: rows.get('Logical_Switch', uuid) }])
  }
  const update = (columns: Record<string, string | Record<string, string>>) =>
    rows.apply([{ do: 'update', table: 'Logical_Switch', uuid, columns }])
  expect(change(() => update({ name: 'red' }))).toEqual(['ls/red'])
  expect([adoption.find('ls/blue', isWanted), adoption.find('ls/red', isWanted)]).toEqual([undefined, uuid])
  expect(change(() => update({ external_ids: { ...ids, owner: 'net/red' } }))).toEqual([])
  expect(adoption.find('ls/red', isWanted)).toBeUndefined()
  expect(change(() => update({ external_ids: ids }))).toEqual(['ls/red'])
  change(() => rows.apply([{ do: 'delete', table: 'Logical_Switch', uuid }]))
  expect(adoption.leftOver()).toEqual([])
})

it('remembers what a row was from which somebody takes every mark', () => {
  const rows = new LocalRows(schema)
  const marks = { ...ids, owner: 'net/blue', id: 'ls/blue' }
  const uuid = rows.insert('Logical_Switch', { name: 'blue', external_ids: marks })
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  function change(columns: Record<string, string | Record<string, string>>): readonly string[] {
    const old = rows.get('Logical_Switch', uuid)
    rows.apply([{ do: 'update', table: 'Logical_Switch', uuid, columns }])
    return adoption.follow([{ table: 'Logical_Switch', uuid, old, new: rows.get('Logical_Switch', uuid) }])
  }
  expect(change({ external_ids: {} })).toEqual(['ls/blue'])
  expect(change({ name: 'renamed' })).toEqual([])
  expect(adoption.find('ls/blue', isWanted)).toBe(uuid)
  expect(adoption.leftOver()).toEqual([])
  change({ external_ids: marks })
  expect(adoption.find('ls/blue', isWanted)).toBeUndefined()
})

it('recognises a row once its parent refers to it', () => {
  const rows = new LocalRows(schema)
  const adoption = new Adoption(catalog, rows)
  const names = rows.apply([
    { do: 'insert', table: 'Logical_Switch_Port', name: 'p', columns: { name: 'p', external_ids: ids } },
    { do: 'insert', table: 'Logical_Switch', name: 's', columns: { name: 'blue', ports: [{ named: 'p' }] } },
  ])
  const uuid = names.get('s') ?? ''
  const change = { table: 'Logical_Switch', uuid, old: undefined, new: rows.get('Logical_Switch', uuid) }
  expect(adoption.follow([change])).toEqual(['lsp/blue'])
  expect(adoption.find('lsp/blue', isWanted)).toBe(names.get('p'))
})

it('looks at the children of a parent that are new to it, and at all when it is another one', () => {
  const rows = new LocalRows(schema)
  const looked: string[] = []
  const watched = {
    get: (table: string, uuid: string) => (looked.push(uuid), rows.get(table, uuid)),
    find: rows.find.bind(rows),
    scan: rows.scan.bind(rows),
  }
  const owned = { ...ids, owner: 'net/p', id: 'lsp/p' }
  const port = (name: string, external_ids: Record<string, string>) =>
    ({ do: 'insert', table: 'Logical_Switch_Port', name, columns: { name, external_ids } }) as const
  const named = ['first', 'second'].map((name) => ({ named: name }))
  const made = rows.apply([
    ...named.map(({ named: name }) => port(name, owned)),
    { do: 'insert', table: 'Logical_Switch', name: 'blue', columns: { name: 'blue', ports: named } },
  ])
  const [first = '', second = '', uuid = ''] = ['first', 'second', 'blue'].map((name) => made.get(name))
  const adoption = new Adoption(catalog, watched)
  adoption.rebuild()
  function change(act: () => void): readonly string[] {
    const old = rows.get('Logical_Switch', uuid)
    act()
    looked.length = 0
    return adoption.follow([{ table: 'Logical_Switch', uuid, old, new: rows.get('Logical_Switch', uuid) }])
  }
  const update = (columns: {
    readonly name?: string
    readonly ports?: readonly (string | { named: string })[]
  }) => ({ do: 'update', table: 'Logical_Switch', uuid, columns }) as const
  let third: string | undefined
  const join = () => {
    const ports = [first, second, { named: 'third' }]
    third = rows.apply([port('third', ids), update({ ports })]).get('third')
  }
  expect(change(join)).toEqual(['lsp/blue'])
  expect(looked).toEqual([third])
  change(() => rows.apply([update({ name: 'red' })]))
  expect(looked.toSorted()).toEqual([first, second].toSorted())
})

it('does not believe in an owner whose feature cannot own the row', () => {
  const rows = new LocalRows(schema)
  const features = [
    { name: 'net', kinds: [kinds.ls] },
    { name: 'other', kinds: [kinds.lb] },
  ]
  const marks = (owner: string) => ({ external_ids: { vendor: 'kube-ovn', owner, id: 'ls/blue' } })
  for (const owner of ['net/blue', 'other/blue', 'unknown/blue']) {
    rows.insert('Logical_Switch', { name: owner, ...marks(owner) })
  }
  const adoption = new Adoption(catalogOf(schema, features), rows)
  adoption.rebuild()
  expect(adoption.leftOver().map(({ row }) => 'name' in row && row.name)).toEqual(['other/blue'])
})

it('finds a row under all that it may be, and then as the first of that which is wanted', () => {
  const rows = new LocalRows(schema)
  const uuid = rows.insert('Port_Group', { name: 'g', external_ids: ids })
  const lookalike = { ...kinds.group, identify: () => undefined, resembles: () => 'g' }
  const adoption = new Adoption(catalogOf(schema, [{ name: 'net', kinds: [lookalike, kinds.pg] }]), rows)
  const change = { table: 'Port_Group', uuid, old: undefined, new: rows.get('Port_Group', uuid) }
  expect(adoption.follow([change])).toEqual(['pg/g', 'group/g'])
  const found = (...wanted: readonly string[]) =>
    ['pg/g', 'group/g'].filter((id) => adoption.find(id, (one) => wanted.includes(one)) === uuid)
  expect(found()).toEqual(['pg/g', 'group/g'])
  expect(found('pg/g')).toEqual(['pg/g'])
  expect(found('group/g')).toEqual(['group/g'])
  expect(found('group/g', 'pg/g')).toEqual(['pg/g'])
  expect(adoption.leftOver()).toMatchObject([{ ids: ['pg/g', 'group/g'] }])
  const gone = { ...change, old: change.new, new: undefined }
  rows.apply([{ do: 'delete', table: 'Port_Group', uuid }])
  adoption.follow([gone])
  expect([adoption.find('pg/g', isWanted), adoption.find('group/g', isWanted)]).toEqual([
    undefined,
    undefined,
  ])
})
