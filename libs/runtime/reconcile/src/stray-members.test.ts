import type { RowBase } from 'ovsdb-client'
import { beforeEach, expect, it } from 'vitest'
import { catalogOf } from './catalog.ts'
import type { SetMember } from './feature.ts'
import { markColumn } from './marks.ts'
import { Memory } from './memory.ts'
import { MemoryRows } from './memory-rows.ts'
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

let rows: MemoryRows
let memory: Memory
let strays: StrayMembers

beforeEach(() => {
  rows = new MemoryRows(schema)
  memory = new Memory()
  const web = { ...want('web', [row(kinds.lb, 'web')]), owner: 'lb/web' }
  reconcile(rows, [want('blue', [row(kinds.ls, 'blue')]), web, want('user', [], [attached])])
  strays = new StrayMembers({ features, catalog, rows, memory })
  strays.rebuild()
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
