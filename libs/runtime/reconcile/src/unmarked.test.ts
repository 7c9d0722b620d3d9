import { beforeEach, expect, it } from 'vitest'
import type { RowChange } from 'ovsdb-client'
import { Adoption } from './adoption.ts'
import { catalogOf, selectionOf } from './catalog.ts'
import { followChanges } from './drift.ts'
import { Memory } from './memory.ts'
import { LocalRows } from './local-rows.ts'
import { catalog, kinds, planOn, reconcile, row, schema, want } from './plan-fixture.ts'
import { planRows } from './plan.ts'
import { columnOf } from './rows.ts'
import { StrayMembers } from './stray-members.ts'
import { findableRows, referredRow } from './unmarked.ts'
import type { Want } from './want.ts'

const table = 'Static_MAC_Binding'
const binding = (mac: string) => row(kinds.mac, 'x', { logical_port: 'ours-x', ip: '10.0.0.1', mac })

let rows: LocalRows
beforeEach(() => {
  rows = new LocalRows(schema)
  rows.insert(table, { logical_port: 'theirs', mac: '9' })
})

function macs() {
  return [...rows.scan(table)].map((found) => [columnOf(found, 'logical_port'), columnOf(found, 'mac')])
}

it('makes, changes and deletes a row without marks, and leaves those of others alone', () => {
  reconcile(rows, [want('x', [binding('1')])])
  expect(planOn(rows, [want('x', [binding('1')])]).steps).toEqual([])
  const [change] = reconcile(rows, [want('x', [binding('2')])]).outcomes
  expect(change).toMatchObject({ outcome: 'updated', id: 'mac/x', columns: ['mac'] })
  expect(macs()).toEqual([
    ['theirs', '9'],
    ['ours-x', '2'],
  ])
  const gone = { ...want('x', []), unmarked: ['mac/x'] }
  const adoptable = new Adoption(catalog, rows)
  adoptable.rebuild()
  const deletedWhen = (holder: string, ...others: Want[]) =>
    planRows({ wants: [gone, ...others], rows, catalog, adoptable, holderOf: () => holder }).outcomes.map(
      ({ outcome, id }) => `${outcome} ${id}`,
    )
  expect(deletedWhen('net/y')).toEqual([])
  expect(deletedWhen('net/x', want('y', [binding('2')]))).toEqual([])
  expect(deletedWhen('net/x')).toEqual(['deleted mac/x'])
})

it('finds its way without the index of marks that such a table has not', () => {
  expect(selectionOf(catalog)[table]).toEqual({ indexes: [] })
  const asked: string[] = []
  const all = {
    get: () => undefined,
    scan: () => [],
    find(_table: string, index: string) {
      asked.push(index)
      return []
    },
  }
  const findable = findableRows(all, catalog)
  findable.find(table, 'external_ids:owner', 'net/x')
  findable.find(table, 'ip', '10.0.0.1')
  findable.find('Logical_Switch', 'external_ids:owner', 'net/x')
  expect(asked).toEqual(['ip', 'external_ids:owner'])
})

it('asks for no row of a table that no kind is of, which the cache need not have', () => {
  const asked: string[] = []
  const all = {
    get(name: string) {
      asked.push(name)
      return undefined
    },
    scan: () => [],
    find: () => [],
  }
  for (const name of ['Logical_Switch', 'NAT', table]) referredRow(all, catalog, name, 'x')
  expect(asked).toEqual(['Logical_Switch', table])
})

it('wakes the key of such a row when somebody changes or deletes it, and not for what joins it', () => {
  const features = [
    { name: 'net', kinds: [kinds.lbg, kinds.mac] },
    { name: 'lb', kinds: [kinds.lb] },
  ]
  const own = catalogOf(schema, features)
  const lbg = row(kinds.lbg, 'all', { name: 'ours-all' })
  rows.apply([{ do: 'insert', table: 'Load_Balancer_Group', name: 'g', columns: { name: 'ours-all' } }])
  rows.apply([{ do: 'insert', table, name: 'm', columns: { logical_port: 'ours-x', mac: '1' } }])
  rows.insert('Load_Balancer', { name: 'web' })
  const memory = new Memory()
  memory.remember('net/x', { rows: [binding('1')], members: [] }, [], true)
  memory.remember('net/all', { rows: [lbg], members: [] }, [], true)
  const adoption = new Adoption(own, rows)
  adoption.rebuild()
  const drifted = (name: string, uuid: string, change: () => void) => {
    const old = rows.get(name, uuid)
    change()
    const changes: readonly RowChange[] = [{ table: name, uuid, old, new: rows.get(name, uuid) }]
    return [...followChanges(changes, { rows, catalog: own, adoption, memory }).drifted]
  }
  const uuid =
    [...rows.scan(table)].find((found) => columnOf(found, 'logical_port') === 'ours-x')?._uuid ?? ''
  expect(
    drifted(table, uuid, () => rows.apply([{ do: 'update', table, uuid, columns: { mac: '9' } }])),
  ).toEqual(['net/x'])
  const renamed = { logical_port: 'theirs' }
  expect(drifted(table, uuid, () => rows.apply([{ do: 'update', table, uuid, columns: renamed }]))).toEqual([
    'net/x',
  ])
  expect(drifted(table, uuid, () => rows.apply([{ do: 'delete', table, uuid }]))).toEqual([])
  const [group] = rows.scan('Load_Balancer_Group')
  const [web] = rows.scan('Load_Balancer')
  const at = { table: 'Load_Balancer_Group', uuid: group?._uuid ?? '' }
  const join = () =>
    rows.apply([{ do: 'mutate', ...at, mutations: [['load_balancer', 'insert', [web?._uuid ?? '']]] }])
  expect(drifted(at.table, at.uuid, join)).toEqual([])
  expect(drifted(at.table, at.uuid, () => rows.apply([{ do: 'delete', ...at }]))).toEqual(['net/all'])
})

it('finds what an earlier life put into a row that can not be marked', () => {
  const features = [
    { name: 'net', kinds: [kinds.lbg] },
    { name: 'lb', kinds: [kinds.lb] },
    { name: 'attach', kinds: [], memberships: [{ kind: 'lbg', column: 'load_balancer' }] },
  ]
  const own = catalogOf(schema, features)
  const uuid = rows.insert('Load_Balancer', {
    name: 'web',
    external_ids: { vendor: 'kube-ovn', owner: 'lb/web', id: 'lb/web' },
  })
  for (const name of ['ours-all', 'theirs'])
    rows.insert('Load_Balancer_Group', { name, load_balancer: [uuid] })
  const adoptable = new Adoption(own, rows)
  const strays = new StrayMembers({ features, catalog: own, rows, memory: new Memory(), adoptable })
  strays.rebuild()
  expect(strays.find(() => true).map(({ containerId }) => containerId)).toEqual(['lbg/all'])
})

it('knows a row by the row of ours that refers to it', () => {
  const sample = {
    ...kinds.mac,
    name: 'held',
    table: 'Load_Balancer' as const,
    parent: ['Logical_Switch', 'load_balancer'] as const,
    identify: (_row: unknown, parent?: { readonly id?: string }) => parent?.id,
  }
  const own = catalogOf(schema, [{ name: 'net', kinds: [kinds.ls, sample] }])
  const uuids = ['a', 'b'].map((name) => rows.insert('Load_Balancer', { name }))
  const marks = { vendor: 'kube-ovn', owner: 'net/blue', id: 'ls/blue' }
  rows.insert('Logical_Switch', { name: 'blue', external_ids: marks, load_balancer: uuids.slice(0, 1) })
  rows.insert('Logical_Switch', { name: 'theirs', load_balancer: uuids.slice(1) })
  const adoption = new Adoption(own, rows)
  adoption.rebuild()
  expect(uuids.map((uuid) => adoption.known(uuid))).toEqual([['held/ls/blue'], []])
})
