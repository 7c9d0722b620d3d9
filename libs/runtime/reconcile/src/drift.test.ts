import type { RowChange } from 'ovsdb-client'
import { beforeEach, describe, expect, it } from 'vitest'
import { Adoption } from './adoption.ts'
import { followChanges } from './drift.ts'
import { Memory } from './memory.ts'
import { LocalRows } from './local-rows.ts'
import { catalog, kinds, port, reconcile, row, schema, want } from './plan-fixture.ts'
import type { Step } from './steps.ts'
import { singletonRef, referencesOf, type Want } from './want.ts'

const member = { of: { kind: 'ls', id: 'blue' }, column: 'load_balancer', value: { kind: 'lb', id: 'lb' } }
const wants: readonly Want[] = [
  want('blue', [row(kinds.ls, 'blue')]),
  want('lb', [row(kinds.lb, 'lb')]),
  want('user', [], [member]),
  want('global', [], [{ of: singletonRef('NB_Global'), column: 'options', key: 'k', value: 'v' }]),
  port('web', 'blue'),
]

let rows: LocalRows
let memory: Memory
let adoption: Adoption

beforeEach(() => {
  rows = new LocalRows(schema)
  memory = new Memory()
  rows.insert('NB_Global', {})
  reconcile(rows, wants)
  for (const one of wants)
    memory.remember(
      one.owner,
      one.desired,
      referencesOf(one, catalog, () => true),
      true,
    )
  adoption = new Adoption(catalog, rows)
  adoption.rebuild()
})

/** Applies what a stranger does, and answers whom it concerns. */
function stranger(...steps: Step[]): {
  readonly drifted: readonly string[]
  readonly unblocked: readonly string[]
  readonly hasStrays: boolean
} {
  const before = rows.dump()
  rows.apply(steps)
  const after = rows.dump()
  const changes = Object.keys(after).flatMap((table): readonly RowChange[] => {
    const [olds, news] = [before[table] ?? {}, after[table] ?? {}]
    const uuids = new Set([...Object.keys(olds), ...Object.keys(news)])
    return [...uuids]
      .filter((uuid) => JSON.stringify(olds[uuid]) !== JSON.stringify(news[uuid]))
      .map((uuid) => ({ table, uuid, old: olds[uuid], new: shared(news[uuid], olds[uuid]) }))
  })
  const { drifted, unblocked, hasStrays } = followChanges(changes, { rows, catalog, adoption, memory })
  return { drifted: [...drifted].sort(), unblocked: [...unblocked].sort(), hasStrays }
}

/** The cache shares the columns that stay the same. */
function shared(fresh: RowChange['new'], old: RowChange['old']): RowChange['new'] {
  if (fresh === undefined || old === undefined) return fresh
  const columns = Object.entries(fresh).map(([name, value]): [string, unknown] => {
    const before: unknown = Object.entries(old).find(([other]) => other === name)?.[1]
    return [name, JSON.stringify(before) === JSON.stringify(value) ? before : value]
  })
  return Object.assign({ ...fresh }, Object.fromEntries(columns))
}

function uuidOf(table: string, name: string): string {
  return rows.find(table, 'name', name)[0]?._uuid ?? ''
}

describe('followChanges', () => {
  it('concerns the key that wants the row when a second one of its id appears under another owner', () => {
    const marks = { id: 'lb/lb', owner: 'net/blue' }
    const { drifted } = stranger({
      ...{ do: 'insert', table: 'Load_Balancer', name: 'copy' },
      columns: { name: 'copy', external_ids: marks },
    })
    expect(drifted).toEqual(['net/blue', 'net/lb'])
  })

  it('concerns the owner of a row whose own columns changed', () => {
    const uuid = uuidOf('Logical_Switch_Port', 'web')
    const { drifted } = stranger({ do: 'update', table: 'Logical_Switch_Port', uuid, columns: { tag: 3 } })
    expect(drifted).toEqual(['net/web'])
  })

  it('does not concern the owner of a container into which somebody puts a value', () => {
    const insert = {
      do: 'insert',
      table: 'Logical_Switch_Port',
      name: 'p',
      columns: { name: 'foreign' },
    } as const
    const mutations = [['ports', 'insert', [{ named: 'p' }]]] as const
    const join = {
      do: 'mutate',
      table: 'Logical_Switch',
      uuid: uuidOf('Logical_Switch', 'blue'),
      mutations,
    } as const
    expect(stranger(insert, join)).toEqual({ drifted: [], unblocked: [], hasStrays: false })
  })

  it('concerns whoever contributed a value that is gone, its own row or not', () => {
    const uuid = uuidOf('Logical_Switch', 'blue')
    const clear = { do: 'update', table: 'Logical_Switch', uuid, columns: { load_balancer: [] } } as const
    // The balancer's owner, too, may want to be a member, by what the kernel knows.
    expect(stranger(clear).drifted).toEqual(['net/lb', 'net/user'])
    expect(stranger({ ...clear, columns: { ports: [] } }).drifted).toEqual(['net/web'])
  })

  it('concerns whoever contributed a row from which somebody had taken the marks', () => {
    const [uuid, lb] = [uuidOf('Logical_Switch', 'blue'), uuidOf('Load_Balancer', 'lb')]
    const columns = { external_ids: { vendor: 'kube-ovn' } }
    stranger({ do: 'update', table: 'Load_Balancer', uuid: lb, columns })
    const clear = { do: 'update', table: 'Logical_Switch', uuid, columns: { load_balancer: [] } } as const
    expect(stranger(clear).drifted).toEqual(['net/user'])
  })

  it('concerns the contents of a container that is deleted', () => {
    const uuid = uuidOf('Logical_Switch', 'blue')
    const { drifted } = stranger({ do: 'delete', table: 'Logical_Switch', uuid })
    expect(drifted).toEqual(['net/blue', 'net/lb', 'net/user', 'net/web'])
  })

  it('unblocks whoever refers to a row that comes into being, and not by its adoption', () => {
    const red = port('db', 'red')
    memory.remember(
      red.owner,
      red.desired,
      referencesOf(red, catalog, () => true),
      false,
    )
    const ids = { vendor: 'kube-ovn' }
    const columns = { name: 'red', external_ids: ids }
    expect(stranger({ do: 'insert', table: 'Logical_Switch', name: 'r', columns }).unblocked).toEqual([
      'net/db',
    ])
    const marked = { external_ids: { ...ids, owner: 'net/red', id: 'ls/red' } }
    const adopt = {
      do: 'update',
      table: 'Logical_Switch',
      uuid: uuidOf('Logical_Switch', 'red'),
      columns: marked,
    } as const
    expect(stranger(adopt)).toEqual({ drifted: ['net/red'], unblocked: [], hasStrays: false })
  })

  it('unblocks whoever refers to a row that comes back to its owner', () => {
    const uuid = uuidOf('Logical_Switch', 'blue')
    const marked = (owner: string) => ({ external_ids: { vendor: 'kube-ovn', owner, id: 'ls/blue' } })
    const update = { do: 'update', table: 'Logical_Switch', uuid } as const
    stranger({ ...update, columns: marked('net/web') })
    expect(stranger({ ...update, columns: marked('net/blue') }).unblocked).toEqual(['net/user', 'net/web'])
  })

  it('unblocks whoever meant a row by what it was and is no more', () => {
    const uuid = uuidOf('Logical_Switch', 'blue')
    const columns = { external_ids: { vendor: 'kube-ovn', owner: 'net/blue', id: 'ls/red' } }
    const relabel = { do: 'update', table: 'Logical_Switch', uuid, columns } as const
    expect(stranger(relabel)).toMatchObject({ drifted: ['net/blue'], unblocked: ['net/user', 'net/web'] })
  })

  it('unblocks whoever meant one of two rows, of which the other one stays', () => {
    const external_ids = { vendor: 'kube-ovn', owner: 'net/blue', id: 'ls/blue' }
    const uuid = uuidOf('Logical_Switch', 'blue')
    stranger({ do: 'insert', table: 'Logical_Switch', name: 'copy', columns: { name: 'copy', external_ids } })
    expect(stranger({ do: 'delete', table: 'Logical_Switch', uuid }).unblocked).toEqual([
      'net/user',
      'net/web',
    ])
  })

  it('concerns those who keep an entry in a map of the only row of a table', () => {
    const [global] = rows.scan('NB_Global')
    const uuid = global?._uuid ?? ''
    expect(stranger({ do: 'update', table: 'NB_Global', uuid, columns: { options: {} } }).drifted).toEqual([
      'net/global',
    ])
  })
})
