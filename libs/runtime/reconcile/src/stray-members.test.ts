import type { RowBase } from 'ovsdb-client'
import { beforeEach, expect, it } from 'vitest'
import { catalogOf } from './catalog.ts'
import type { Membership, SetMember } from './feature.ts'
import { markColumn } from './marks.ts'
import { Memory } from './memory.ts'
import { LocalRows } from './local-rows.ts'
import { excessiveRemovals } from './orphans.ts'
import { kinds, reconcile, row, schema, want } from './plan-fixture.ts'
import { mapOf } from './rows.ts'
import { planMemberRemoval, StrayMembers } from './stray-members.ts'

const features = [
  { name: 'net', kinds: [kinds.ls, kinds.lsp], memberships: [{ kind: 'ls', column: 'ports' }] },
  { name: 'lb', kinds: [kinds.lb] },
  { name: 'attach', kinds: [], memberships: [{ kind: 'ls', column: 'load_balancer' }] },
]
const catalog = catalogOf(schema, features)
const attached: SetMember = {
  of: { kind: 'ls', id: 'blue' },
  column: 'load_balancer',
  value: { kind: 'lb', id: 'web' },
}

let rows: LocalRows
let memory: Memory
let strays: StrayMembers

beforeEach(() => {
  rows = new LocalRows(schema)
  memory = new Memory()
  const web = { ...want('web', [row(kinds.lb, 'web')]), owner: 'lb/web' }
  reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), web, want('user', [], [attached])])
  strays = new StrayMembers({ features, catalog, rows, memory })
  strays.rebuild()
})

const addressSet = { kind: 'as', id: 'clients' }

/** As a process finds it that has just started: all that contributed are keys of one before. */
function composed(keyOf?: Membership['keyOf']): StrayMembers {
  const member = { of: addressSet, column: 'addresses', value: '10.0.0.1' }
  const second = { ...member, value: '10.0.0.2' }
  reconcile(rows, [want('clients', [row(kinds.set, 'clients')]), want('a', [], [member, second])])
  const all = [
    { name: 'group', kinds: [kinds.set] },
    {
      name: 'member',
      kinds: [],
      memberships: [{ kind: 'as', column: 'addresses', ...(keyOf === undefined ? {} : { keyOf }) }],
    },
  ]
  const found = new StrayMembers({ features: all, catalog: catalogOf(schema, all), rows, memory })
  found.rebuild()
  return found
}

it('finds plain values that an earlier life, or a stranger, put into a composed column', () => {
  strays = composed()
  expect(find('member')).toEqual([])
  const member = { of: addressSet, column: 'addresses', value: '10.0.0.2' }
  memory.remember('member/b', { rows: [], members: [member] }, [], true)
  const found = find()
  expect(found).toMatchObject([{ containerId: 'as/clients', column: 'addresses', value: '10.0.0.1' }])
  rows.apply(planMemberRemoval(found, '').steps)
  const [before] = rows.find('Address_Set', 'name', 'clients')
  expect(before).toMatchObject({ addresses: ['10.0.0.2'] })
  expect(find()).toEqual([])
  const uuid = before?._uuid ?? ''
  rows.apply([
    { do: 'mutate', table: 'Address_Set', uuid, mutations: [['addresses', 'insert', ['192.0.2.1']]] },
  ])
  expect(
    strays.follow([{ table: 'Address_Set', uuid, old: before, new: rows.get('Address_Set', uuid) }]),
  ).toBe(true)
  expect(find()).toMatchObject([{ value: '192.0.2.1' }])
})

it('keeps a value while its own key has not said what it wants, and no longer for the sake of others', () => {
  strays = composed(({ value }) => (value === '10.0.0.1' ? 'a' : undefined))
  const values = (unsettled: string) =>
    strays.find((_feature, key) => key !== unsettled).map(({ value }) => value)
  expect(values('a')).toEqual(['10.0.0.2'])
  expect(values('b')).toEqual(['10.0.0.1', '10.0.0.2'])
})

it('finds entries that an earlier life, or a stranger, put into a composed map, and keeps those of keys that have not spoken', () => {
  const balancer = { kind: 'lb', id: 'web' }
  const entry = (key: string) => ({ of: balancer, column: 'ip_port_mappings', key, value: '1' })
  reconcile(rows, [want('a', [], [entry('a')]), want('b', [], [entry('b')]), want('c', [], [entry('c')])])
  const keyOf: Membership['keyOf'] = (member) => ('key' in member ? member.key : undefined)
  const all = [
    { name: 'lb', kinds: [kinds.lb] },
    { name: 'member', kinds: [], memberships: [{ kind: 'lb', column: 'ip_port_mappings', keyOf }] },
  ]
  const found = new StrayMembers({ features: all, catalog: catalogOf(schema, all), rows, memory })
  found.rebuild()
  memory.remember('member/a', { rows: [], members: [entry('a')] }, [], true)
  const keys = () => found.find((_feature, key) => key !== 'c').map(({ key }) => key)
  expect(keys()).toEqual(['b'])
  const [web] = rows.find('Load_Balancer', 'name', 'web')
  const uuid = web?._uuid ?? ''
  const mutations = [['ip_port_mappings', 'insert', { theirs: '9' }]] as const
  rows.apply([{ do: 'mutate', table: 'Load_Balancer', uuid, mutations }])
  const change = { table: 'Load_Balancer', uuid, old: web, new: rows.get('Load_Balancer', uuid) }
  expect(found.follow([change])).toBe(true)
  expect(keys()).toEqual(['b', 'theirs'])
  const strays = found.find((_feature, key) => key !== 'c')
  expect(strays.map((one) => found.count(one))).toEqual([4, 4])
  rows.apply(planMemberRemoval(strays, '').steps)
  expect(rows.get('Load_Balancer', uuid)).toMatchObject({ ip_port_mappings: { a: '1', c: '1' } })
  expect(keys()).toEqual([])
})

function find(...unsettled: readonly string[]) {
  return strays.find((feature) => !unsettled.includes(feature))
}

it('finds what an earlier life put into a set, once all who put something there have spoken', () => {
  expect(find('attach')).toEqual([])
  const found = find()
  expect(found).toMatchObject([{ kind: 'ls', containerId: 'ls/blue', column: 'load_balancer' }])
  rows.apply(planMemberRemoval(found, '').steps)
  expect(rows.find('Logical_Switch', 'name', 'blue')).toMatchObject([{ load_balancer: [] }])
  expect(find()).toEqual([])
})

it('clears what a key wants there', () => {
  memory.remember('attach/user', { rows: [], members: [attached] }, [], true)
  expect(find()).toEqual([])
  memory.remember('attach/user', { rows: [], members: [] }, [], true)
  // Whoever let it go takes it out by himself.
  expect(find()).toEqual([])
})

it('finds a row where it is no longer wanted once somebody made another one of it', () => {
  memory.remember('attach/user', { rows: [], members: [attached] }, [], true)
  expect(find()).toEqual([])
  const [web] = rows.find('Load_Balancer', 'name', 'web')
  const uuid = web?._uuid ?? ''
  const marks = { ...mapOf(web as RowBase, markColumn), id: 'lb/other' }
  rows.apply([{ do: 'update', table: 'Load_Balancer', uuid, columns: { [markColumn]: marks } }])
  const change = { table: 'Load_Balancer', uuid, old: web, new: rows.get('Load_Balancer', uuid) }
  expect(strays.follow([change])).toBe(true)
  expect(find()).toMatchObject([{ containerId: 'ls/blue', column: 'load_balancer', value: uuid }])
})

it("suspects no row of a stranger's, and nothing in a set of rows that know by themselves where they belong", () => {
  const [blue] = rows.find('Logical_Switch', 'name', 'blue')
  const uuid = blue?._uuid ?? ''
  find()
  rows.apply([
    { do: 'insert', table: 'Load_Balancer', name: 'l', columns: { name: 'theirs' } },
    { do: 'insert', table: 'Logical_Switch_Port', name: 'p', columns: { name: 'theirs' } },
    {
      do: 'update',
      table: 'Logical_Switch',
      uuid,
      columns: { load_balancer: [{ named: 'l' }], ports: [{ named: 'p' }] },
    },
  ])
  strays.follow([{ table: 'Logical_Switch', uuid, old: blue, new: rows.get('Logical_Switch', uuid) }])
  expect(find()).toEqual([])
})

it('finds that too much would be taken out of the sets of a kind', () => {
  const [one] = find()
  if (one === undefined) throw new Error('nothing found')
  const many = Array.from({ length: 51 }, () => one)
  expect(excessiveRemovals(many, { count: () => 510 })).toEqual([])
  expect(excessiveRemovals(many, { count: () => 509 })).toMatchObject([
    { kind: 'ls.load_balancer', rows: 51, of: 509 },
  ])
  expect(strays.count(one)).toBe(1)
})
