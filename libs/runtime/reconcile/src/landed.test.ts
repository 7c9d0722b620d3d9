import fc from 'fast-check'
import type { RowBase, RowChange, Value } from 'ovsdb-client'
import { describe, expect, it } from 'vitest'
import { catalogOf } from './catalog.ts'
import { haveJustLanded } from './landed.ts'
import { schema } from './plan-fixture.ts'
import type { Step } from './steps.ts'

const catalog = catalogOf(schema, [])

const steps: readonly Step[] = [
  {
    do: 'insert',
    table: 'Logical_Switch_Port',
    name: 'row0',
    uuid: 'port-new',
    columns: { name: 'web', addresses: ['dynamic'], external_ids: { owner: 'pod/web' } },
  },
  {
    do: 'mutate',
    table: 'Logical_Switch',
    uuid: 'switch',
    mutations: [['ports', 'insert', ['port-new']]],
  },
]

function port(columns: Readonly<Record<string, Value>> = {}): RowBase {
  return {
    _uuid: 'port-new',
    ...{ name: 'web', addresses: ['dynamic'], options: {}, tag: undefined, dhcpv4_options: undefined },
    external_ids: { owner: 'pod/web' },
    ...columns,
  } as RowBase
}

const none: readonly string[] = ['port-a', 'port-z']

function onSwitch(ports: readonly string[], columns: Readonly<Record<string, Value>> = {}): RowBase {
  return {
    _uuid: 'switch',
    name: 'ls',
    ports,
    load_balancer: empty,
    other_config: map,
    external_ids: map,
    ...columns,
  } as RowBase
}

const empty: readonly string[] = []
const map: Readonly<Record<string, string>> = {}

function inserted(row: RowBase = port()): RowChange {
  return { table: 'Logical_Switch_Port', uuid: 'port-new', old: undefined, new: row }
}

function extended(fresh: RowBase = onSwitch(['port-a', 'port-new', 'port-z'])): RowChange {
  return { table: 'Logical_Switch', uuid: 'switch', old: onSwitch(none), new: fresh }
}

function landed(...changes: readonly RowChange[]): boolean {
  return haveJustLanded(steps, changes, catalog)
}

it('is so when a new row and what joined a set are all that changed', () => {
  expect(landed(inserted(), extended())).toBe(true)
  expect(landed(extended(), inserted())).toBe(true)
})

describe('is not so', () => {
  const cases: readonly (readonly [string, readonly RowChange[]])[] = [
    ['when nothing has come yet', []],
    ['when a part is missing', [inserted()]],
    ['when a row changed that is in no step', [inserted(), extended(), { ...inserted(), uuid: 'other' }]],
    ['when the new row was changed meanwhile', [inserted(), extended(), { ...inserted(), old: port() }]],
    ['when the new row differs', [inserted(port({ name: 'wob' })), extended()]],
    ['when the new row has what it was not given', [inserted(port({ tag: 7 })), extended()]],
    ['when the new row is gone already', [{ ...inserted(), old: port(), new: undefined }, extended()]],
    ['when something else joined the set', [inserted(), extended(onSwitch(['port-a', 'port-b', 'port-z']))]],
    [
      'when more joined the set',
      [inserted(), extended(onSwitch(['port-a', 'port-b', 'port-new', 'port-z']))],
    ],
    ['when something left the set, too', [inserted(), extended(onSwitch(['port-new', 'port-z']))]],
    [
      'when another column of the container changed',
      [inserted(), extended(onSwitch(['port-a', 'port-new', 'port-z'], { name: 'renamed' }))],
    ],
  ]
  it.each(cases)('%s', (_, changes) => expect(landed(...changes)).toBe(false))

  it('for steps that update, remove or take out, of which it knows nothing', () => {
    const other: Step = { do: 'update', table: 'Logical_Switch', uuid: 'switch', columns: { name: 'x' } }
    const removal: Step = {
      do: 'mutate',
      table: 'Logical_Switch',
      uuid: 'switch',
      mutations: [['ports', 'delete', ['port-a']]],
    }
    expect(haveJustLanded([other], [{ ...extended(), new: onSwitch(none, { name: 'x' }) }], catalog)).toBe(
      false,
    )
    expect(haveJustLanded([removal], [extended(onSwitch(['port-z']))], catalog)).toBe(false)
  })
})

it('holds of a set of any size exactly when the same elements joined it', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 40 })
  fc.assert(
    fc.property(names, names, names, (had, sent, came) => {
      const before = had.toSorted()
      const fresh = sent.filter((one) => !had.includes(one))
      const joined = came.filter((one) => !had.includes(one))
      fc.pre(fresh.length > 0 && joined.length > 0)
      const step: Step = {
        do: 'mutate',
        table: 'Logical_Switch',
        uuid: 'switch',
        mutations: [['ports', 'insert', fresh]],
      }
      const change: RowChange = {
        table: 'Logical_Switch',
        uuid: 'switch',
        old: onSwitch(before),
        new: onSwitch([...before, ...joined].toSorted()),
      }
      expect(haveJustLanded([step], [change], catalog)).toBe(
        fresh.toSorted().join() === joined.toSorted().join(),
      )
    }),
  )
})

describe('of entries that join a map', () => {
  const uuid = 'lb'
  const row = (ip_port_mappings: Readonly<Record<string, string>>): RowBase =>
    ({ _uuid: uuid, name: 'lb', vips: map, external_ids: map, ip_port_mappings }) as RowBase
  const before = { a: '1' }
  const put: readonly Step[] = [
    { do: 'mutate', table: 'Load_Balancer', uuid, mutations: [['ip_port_mappings', 'insert', { b: '2' }]] },
  ]

  it.each([
    ['joined', { a: '1', b: '2' }, true],
    ['joined as others', { a: '1', b: '3' }, false],
    ['joined with others', { a: '1', b: '2', c: '3' }, false],
    ['joined while others went', { b: '2' }, false],
    ['replaced others', { a: '2' }, false],
  ])('knows whether they %s', (_name, after, expected) => {
    const change = { table: 'Load_Balancer', uuid, old: row(before), new: row(after) }
    expect(haveJustLanded(put, [change], catalog)).toBe(expected)
  })

  it('knows no entry that took the place of another', () => {
    const change = { table: 'Load_Balancer', uuid, old: row({ b: '1' }), new: row({ b: '2' }) }
    expect(haveJustLanded(put, [change], catalog)).toBe(false)
  })

  it('knows nothing that takes an entry away', () => {
    const mutations = [['ip_port_mappings', 'delete', { a: '1' }]] as const
    const change = { table: 'Load_Balancer', uuid, old: row(before), new: row(map) }
    expect(
      haveJustLanded([{ do: 'mutate', table: 'Load_Balancer', uuid, mutations }], [change], catalog),
    ).toBe(false)
  })
})
