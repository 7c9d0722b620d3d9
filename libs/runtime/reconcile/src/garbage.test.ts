import { silentLogger } from '@kube-ovn/log'
import type { RowRef } from '@kube-ovn/ovn-names'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { ReferentialIntegrityError } from 'ovsdb-client'
import { expect, it } from 'vitest'
import { Adoption } from './adoption.ts'
import { catalogOf } from './catalog.ts'
import { Garbage } from './garbage.ts'
import { Memory } from './memory.ts'
import { LocalRows } from './local-rows.ts'
import { kinds, schema } from './plan-fixture.ts'
import { columnOf } from './rows.ts'
import type { Step } from './steps.ts'
import { StrayMembers } from './stray-members.ts'

it('tries longer and longer apart to remove what nobody wants, and from the beginning after a success', async () => {
  const features = [{ name: 'net', kinds: [kinds.ls] }]
  const catalog = catalogOf(schema, features)
  const rows = new LocalRows(schema)
  rows.insert('Logical_Switch', { name: 'blue', external_ids: { vendor: 'kube-ovn' } })
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  const answers = ['refused', 'refused', 'taken', 'refused']
  const attempts: number[] = []
  const garbage = new Garbage({
    ...{ rows, catalog, adoption, logger: silentLogger, metrics: kernelMetrics(new Registry()) },
    memory: new Memory(),
    strays: new StrayMembers({ features, catalog, rows, memory: new Memory() }),
    isHeard: () => true,
    release: () => undefined,
    features: new Map(),
    commit: () => (answers.shift() === 'taken' ? Promise.resolve() : Promise.reject(new Error('refused'))),
    retry: (attempt) => attempts.push(attempt),
  })
  while (answers.length > 0) await garbage.collect()
  expect(attempts).toEqual([0, 1, 0])
})

it('collects what a key wants no more as soon as that key has said so, whatever others of its feature do', async () => {
  const features = [{ name: 'net', kinds: [kinds.ls] }]
  const catalog = catalogOf(schema, features)
  const rows = new LocalRows(schema)
  for (const name of ['blue', 'red'])
    rows.insert('Logical_Switch', { name, external_ids: { vendor: 'kube-ovn' } })
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  const names = () => [...rows.scan('Logical_Switch')].map((row) => columnOf(row, 'name'))
  const garbage = new Garbage({
    ...{ rows, catalog, adoption, logger: silentLogger, metrics: kernelMetrics(new Registry()) },
    memory: new Memory(),
    strays: new StrayMembers({ features, catalog, rows, memory: new Memory() }),
    isHeard: () => true,
    release: () => undefined,
    features: new Map([['net', { mayOwn: (key, { id }) => key === id }]]),
    commit: (plan) => Promise.resolve(rows.apply(plan.steps)),
    retry: () => undefined,
  })
  for (const owner of ['net/blue', 'net/red']) garbage.markFailing(owner)
  await garbage.collect()
  expect([names(), garbage.hasWork]).toEqual([['blue', 'red'], false])
  garbage.markSettled('net/blue')
  expect(garbage.hasWork).toBe(true)
  await garbage.collect()
  expect(names()).toEqual(['red'])
})

it('collects the rest when the database refuses to let go of some', async () => {
  const features = [{ name: 'net', kinds: [kinds.ls, kinds.hacg] }]
  const catalog = catalogOf(schema, features)
  const rows = new LocalRows(schema)
  const ofVendor = (name: string) => ({ name, external_ids: { vendor: 'kube-ovn' } })
  for (const name of ['blue', 'green', 'red']) rows.insert('Logical_Switch', ofVendor(name))
  const [held] = ['held', 'free'].map((name) => rows.insert('HA_Chassis_Group', ofVendor(name)))
  rows.apply([
    { do: 'insert', table: 'Logical_Switch_Port', name: 'p', columns: { ha_chassis_group: held } },
    {
      do: 'insert',
      table: 'Logical_Switch',
      name: 's',
      columns: { name: 'theirs', ports: [{ named: 'p' }] },
    },
  ])
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  const attempts: number[] = []
  const garbage = new Garbage({
    ...{ rows, catalog, adoption, logger: silentLogger, metrics: kernelMetrics(new Registry()) },
    memory: new Memory(),
    strays: new StrayMembers({ features, catalog, rows, memory: new Memory() }),
    isHeard: () => true,
    release: () => undefined,
    features: new Map(),
    commit: ({ steps }) => Promise.try(() => applyAsServer(rows, steps)),
    retry: (attempt) => attempts.push(attempt),
  })
  const names = () =>
    ['Logical_Switch', 'HA_Chassis_Group'].flatMap((table) =>
      [...rows.scan(table)].map((row) => columnOf(row, 'name')),
    )
  await garbage.collect()
  expect([names(), attempts]).toEqual([['theirs', 'held'], [0]])
})

it('asks no key about a row whose name tells which keys could want it', async () => {
  const features = [{ name: 'net', kinds: [kinds.ls] }]
  const catalog = catalogOf(schema, features)
  const rows = new LocalRows(schema)
  const names = Array.from({ length: 100 }, (_one, n) => `s${n}`)
  for (const name of [...names, 'left'])
    rows.insert('Logical_Switch', { name, external_ids: { vendor: 'kube-ovn' } })
  const adoption = new Adoption(catalog, rows)
  adoption.rebuild()
  let asked = 0
  const mayOwn = (key: string, { id }: RowRef) => ++asked > 0 && key === id
  const garbage = new Garbage({
    ...{ rows, catalog, adoption, logger: silentLogger, metrics: kernelMetrics(new Registry()) },
    memory: new Memory(),
    strays: new StrayMembers({ features, catalog, rows, memory: new Memory() }),
    isHeard: () => true,
    release: () => undefined,
    features: new Map([['net', { mayOwn, keysOf: ({ id }: RowRef) => [id] }]]),
    commit: (plan) => Promise.resolve(rows.apply(plan.steps)),
    retry: () => undefined,
  })
  for (const name of names) garbage.markFailing(`net/${name}`)
  await garbage.collect()
  expect([...rows.scan('Logical_Switch')].map((row) => columnOf(row, 'name'))).toEqual(names)
  expect(asked).toBe(0)
})

function applyAsServer(rows: LocalRows, steps: readonly Step[]): void {
  try {
    rows.apply(steps)
  } catch (cause) {
    const unknown = { explanation: undefined, operation: undefined, op: undefined, table: undefined }
    throw new ReferentialIntegrityError({ error: String(cause), ...unknown })
  }
}
