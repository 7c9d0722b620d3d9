import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupTable, rowTable, selectionTable, sourceTable } from './declare.ts'
import { StoredRows } from './rows.ts'
import type { AnyTable } from './table.ts'
import {
  contents,
  Fixture,
  groups,
  networks,
  places,
  pods,
  policies,
  subnets,
  vpcs,
  type Pod,
  type Policy,
} from './tables-fixture.ts'
import { Tables } from './tables.ts'
import { watchedTable } from './watch.ts'

const key = fc.constantFrom('k1', 'k2', 'k3', 'k4')
const vpc = fc.constantFrom('red', 'blue')
const pod = fc.record({
  name: key,
  node: fc.constantFrom('n1', 'n2'),
  subnet: key,
  labels: fc.record({ app: fc.constantFrom('a', 'b') }),
})
function orNone<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: 4 })
}
const step = fc.oneof(
  fc.record({ table: fc.constant(pods as AnyTable), key, row: orNone(pod) }),
  fc.record({
    table: fc.constant(subnets as AnyTable),
    key,
    row: orNone(fc.record({ vpc, size: fc.nat(4) })),
  }),
  fc.record({
    table: fc.constant(policies as AnyTable),
    key,
    row: orNone(fc.record({ app: fc.constantFrom('a', 'b') })),
  }),
  fc.constant('settle' as const),
)

describe('Tables', () => {
  it('are, after any changes, what they would be from the beginning, and so are their forks', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.array(step, { maxLength: 10 }), (steps, tries) => {
        const world = new Fixture()
        const fresh = new Fixture()
        world.tables.start()
        for (const one of steps) {
          if (one === 'settle') world.tables.settle()
          else {
            world.put(one.table, one.key, one.row as never)
            fresh.put(one.table, one.key, one.row as never)
          }
        }
        world.tables.settle()
        const before = contents(world.tables)
        const fork = world.tables.fork()
        for (const one of tries) {
          if (one === 'settle') fork.settle()
          else {
            fork.put(one.table, one.key, one.row as never)
          }
        }
        fork.settle()
        expect(contents(world.tables)).toEqual(before)
        fresh.tables.start()
        fresh.tables.settle()
        expect(before).toEqual(contents(fresh.tables))
        for (const one of tries) if (one !== 'settle') fresh.put(one.table, one.key, one.row as never)
        fresh.tables.settle()
        expect(contents(fork)).toEqual(contents(fresh.tables))
        expect(world.defects).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('take in what there is at the start a slice at a time, whatever changes meanwhile', () => {
    const fillings = Array.from({ length: 40 }, (_, index) => `k${index}`)
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = new Fixture()
        const fresh = new Fixture()
        for (const one of [world, fresh]) {
          for (const name of fillings) {
            one.put(pods, name, { name, node: 'n1', subnet: name, labels: { app: 'a' } })
            one.put(subnets, name, { vpc: 'red', size: 1 })
          }
        }
        world.tables.start()
        expect(world.tables.settle(0)).toBe(false)
        for (const one of steps) {
          if (one === 'settle') world.tables.settle(0)
          else for (const two of [world, fresh]) two.put(one.table, one.key, one.row as never)
        }
        world.tables.settle()
        fresh.tables.start()
        fresh.tables.settle()
        expect(contents(world.tables)).toEqual(contents(fresh.tables))
        expect(world.defects).toEqual([])
      }),
    )
  })

  it('tells of a key when what it read has changed, and of what, and no more', () => {
    const world = new Fixture()
    world.put(subnets, 's', { vpc: 'red', size: 1 })
    world.put(pods, 'p', { name: 'p', node: 'n1', subnet: 's', labels: {} })
    world.put(pods, 'q', { name: 'q', node: 'n1', subnet: 's', labels: {} })
    world.tables.start()
    expect(world.concerned()).toEqual(['p by pods[p]', 'q by pods[q]'])
    const read = (name: string) =>
      world.watch.read(name, { places, networks }, ({ places, networks }) => [
        places.get(name),
        networks.find('vpc', 'red'),
      ])
    expect(read('p')).toEqual([{ vpc: 'red', node: 'n1' }, [{ vpc: 'red', size: 1 }]])
    world.put(subnets, 's', { vpc: 'red', size: 2 })
    expect(world.concerned()).toEqual(['p by networks by vpc[red]'])
    // What comes out as it was wakes nobody.
    world.put(subnets, 't', { vpc: 'red', size: 7 })
    world.put(pods, 'p', { name: 'p', node: 'n1', subnet: 's', labels: {}, noise: 1 })
    expect(world.concerned()).toEqual([])
    const fails = () =>
      world.watch.read('p', { networks }, ({ networks }) => {
        networks.find('vpc', 'blue')
        throw new TypeError('fails')
      })
    expect(fails).toThrow('fails')
    world.put(subnets, 'u', { vpc: 'blue', size: 1 })
    expect(world.concerned()).toEqual(['p by networks by vpc[blue]'])
    world.watch.forget('p')
    world.put(subnets, 's', { vpc: 'blue', size: 2 })
    expect(world.concerned()).toEqual([])
  })

  it('tells who reads members of those that come and go alone', () => {
    const world = new Fixture()
    world.put(subnets, 's', { vpc: 'red', size: 1 })
    world.tables.start()
    world.tables.settle()
    world.watch.read('reader', { vpcs, groups }, ({ vpcs, groups }) => [vpcs.get('red'), groups.get('web')])
    world.put(policies, 'web', { app: 'web' })
    expect(world.concerned()).toEqual(['reader by groups[web]'])
    world.put(pods, 'p', { name: 'p', node: 'n1', subnet: 's', labels: { app: 'web' } })
    expect(world.concerned()).toEqual(['p by pods[p]', expect.stringContaining('reader by')])
    world.put(pods, 'p', { name: 'other', node: 'n1', subnet: 's', labels: { app: 'web', color: 'red' } })
    expect(world.concerned()).toEqual(['p by pods[p]'])
  })

  it('tells who asked whether there is any of the first that comes and the last that goes', () => {
    const world = new Fixture()
    world.put(subnets, 's', { vpc: 'red', size: 1 })
    world.tables.start()
    const put = (name: string, node: string | undefined): readonly string[] => {
      world.put(pods, name, node === undefined ? undefined : { name, node, subnet: 's', labels: {} })
      return world.concerned().filter((told) => !told.startsWith(`${name} by`))
    }
    const ask = (reader: string): boolean =>
      world.watch.read(reader, { places }, ({ places }) => places.some('at', 'red/n1'))
    expect([ask('a'), ask('b')]).toEqual([false, false])
    expect(put('p', 'n1')).toEqual(['a by places by at[red/n1]', 'b by places by at[red/n1]'])
    expect(ask('a')).toBe(true)
    expect(put('q', 'n1')).toEqual([])
    expect(put('p', 'n2')).toEqual([])
    const fork = world.tables.fork()
    const forked = fork.watch(world.watch)
    fork.put(pods, 'q', undefined)
    fork.settle()
    expect([...forked.concerned].filter((key) => key !== 'q')).toEqual(['a', 'b'])
    expect(put('q', undefined)).toEqual(['a by places by at[red/n1]', 'b by places by at[red/n1]'])
  })

  it('says which watched keys a try would concern', () => {
    const world = new Fixture()
    world.tables.start()
    world.tables.settle()
    world.watch.read('reader', { networks }, ({ networks }) => networks.find('vpc', 'red'))
    const fork = world.tables.fork()
    const watch = fork.watch(world.watch)
    fork.put(subnets, 's', { vpc: 'red', size: 1 })
    fork.settle()
    expect([...watch.concerned]).toEqual(['reader'])
    expect(watch.read('reader', { networks }, ({ networks }) => networks.find('vpc', 'red'))).toEqual([
      { vpc: 'red', size: 1 },
    ])
    expect(world.concerned()).toEqual([])
  })

  it('derive within a budget, and go on later', () => {
    let nowMs = 0
    const doubled = rowTable({ name: 'doubled', of: subnets, row: ({ size }) => ({ size: 2 * size }) })
    const tables = new Tables({
      tables: [doubled],
      onDefect: (_table, _key, error) => expect.fail(String(error)),
      monotonic: () => nowMs++,
    })
    const store = new StoredRows(subnets.indexes as never)
    tables.attach(subnets, store as never)
    for (let count = 0; count < 100; count++) store.put(`s${count}`, { vpc: 'red', size: count })
    tables.start()
    let slices = 1
    while (!tables.settle(1)) slices++
    expect(slices).toBeGreaterThan(2)
    expect(tables.isSettled).toBe(true)
    expect(tables.view(doubled).scan()).toHaveLength(100)
  })

  it('keep what a derivation gave before it failed, and try again with what it read', () => {
    const failing = rowTable({
      name: 'failing',
      of: policies,
      reads: { subnets },
      row: ({ app }, { subnets }) => {
        const subnet = subnets.get(app)
        if (subnet?.size === 0) throw new TypeError('no size')
        return { size: subnet?.size ?? -1 }
      },
    })
    const defects: string[] = []
    const tables = new Tables({
      tables: [failing],
      onDefect: (table, key) => defects.push(`${table} ${key}`),
    })
    const stores = { subnets: new StoredRows({}), policies: new StoredRows({}) }
    tables.attach(subnets, stores.subnets as never)
    tables.attach(policies, stores.policies as never)
    stores.policies.put('p', { app: 's' })
    tables.start()
    tables.settle()
    for (const size of [0, 5]) {
      stores.subnets.put('s', { vpc: 'red', size })
      tables.changed(subnets, 's', undefined, { vpc: 'red', size })
      tables.settle()
      expect(tables.view(failing).get('p')).toEqual({ size: size === 0 ? -1 : 5 })
    }
    expect(defects).toEqual(['failing p'])
  })

  it('bear rows on which indexes, selectors, labels or watchers fail, and go on with all others', () => {
    interface Thing {
      readonly at?: string
      readonly labels?: Readonly<Record<string, string>>
      readonly app?: string
    }
    const upper = (text: string | undefined): string => {
      if (text === undefined) throw new TypeError('no text')
      return text.toUpperCase()
    }
    const things = sourceTable({ name: 'things', indexes: { at: (thing: Thing) => [upper(thing.at)] } })
    const wishes = sourceTable<Thing>({ name: 'wishes' })
    const lists = groupTable({
      name: 'lists',
      of: things,
      by: 'at',
      rows: (members, _views, at) => [[at, [...members.keys()].join()]],
    })
    const derived = rowTable({
      name: 'derived',
      of: things,
      row: (thing) => thing,
      indexes: { app: ({ app }: Thing) => [upper(app)] },
    })
    const chosen = selectionTable({
      name: 'chosen',
      objects: things,
      object: ({ labels }) => ({ labels: labels as Readonly<Record<string, string>> }),
      selectors: wishes,
      // Nobody has looked at what a user wrote there.
      selector: ({ app }) => ({
        selector: app === undefined ? { matchExpressions: [null as never] } : { matchLabels: { app } },
      }),
    })
    const defects: string[] = []
    const concerned: string[] = []
    const tables = new Tables({
      tables: [lists, derived, chosen],
      onDefect: (table, key) => defects.push(`${table} ${key}`),
    })
    const stores = { things: new StoredRows({ at: ({ at = '' }: Thing) => [at.toUpperCase()] } as never) }
    const wishRows = new StoredRows({})
    tables.attach(things, stores.things as never)
    tables.attach(wishes, wishRows as never)
    tables.watch({
      of: [watchedTable(derived, ({ at }, key) => [`${key} at ${upper(at)}`])],
      onConcerned: (causes) => concerned.push(...causes.keys()),
    })
    stores.things.put('good', { at: 'x', labels: { app: 'a' }, app: 'a' })
    stores.things.put('bad', {})
    wishRows.put('w', { app: 'a' })
    wishRows.put('v', {})
    tables.start()
    tables.settle()
    expect(tables.view(lists).get('X')).toBe('good')
    expect(tables.view(derived).find('app', 'A')).toHaveLength(1)
    expect(tables.view(chosen).keys('selector', 'w')).toEqual(['good'])
    expect(concerned).toEqual(['good at X'])
    expect([...new Set(defects)].sort()).toEqual(['chosen bad', 'chosen v', 'derived bad', 'things bad'])
    // What was wrong is put right, and what was right goes wrong: what was before stays, where it can.
    defects.length = 0
    for (const [key, row] of [
      ['bad', { at: 'x', labels: { app: 'a' }, app: 'a' }],
      ['good', { at: 'x' }],
    ] as const) {
      const old = stores.things.get(key)
      stores.things.put(key, row)
      tables.changed(things, key, old as Thing, row)
    }
    wishRows.put('w', {})
    tables.changed(wishes, 'w', { app: 'a' }, {})
    tables.settle()
    expect(tables.view(lists).get('X')).toBe('bad,good')
    expect(tables.view(derived).keys('app', 'A')).toEqual(['bad'])
    expect(tables.view(chosen).keys('selector', 'w')).toEqual(['bad', 'good'])
    // Who watches is asked of what was before, too.
    expect([...new Set(defects)].sort()).toEqual(['chosen good', 'chosen w', 'derived bad', 'derived good'])
    const fork = tables.fork()
    fork.put(wishes, 'v', { app: 'a' })
    fork.put(things, 'other', {})
    fork.settle()
    expect(fork.view(chosen).keys('selector', 'v')).toEqual(['bad', 'good'])
  })

  it('ask an index of a row that changes for what was and for what is, once each', () => {
    const asked: string[] = []
    const at = ({ app }: Policy): readonly string[] => {
      asked.push(app)
      return [app]
    }
    const indexed = sourceTable({ name: 'indexed', indexes: { at } })
    const tables = new Tables({ tables: [indexed], onDefect: () => undefined })
    tables.attach(indexed, new StoredRows({}) as never)
    tables.start()
    tables.changed(indexed, 'p', { app: 'before' }, { app: 'after' })
    expect(asked).toEqual(['before', 'after'])
  })

  it('refuse two tables of one name, and an index that is not declared', () => {
    const twin = sourceTable<Pod>({ name: 'pods' })
    expect(() => new Tables({ tables: [pods, twin], onDefect: () => undefined })).toThrow(
      expect.objectContaining({ details: { table: 'pods', reason: 'two tables have this name' } }),
    )
    const astray = rowTable({
      name: 'astray',
      of: policies,
      reads: { pods },
      row: (_policy, { pods }) => pods.find('nowhere' as 'node', 'n1'),
    })
    const errors: unknown[] = []
    const tables = new Tables({ tables: [astray], onDefect: (_table, _key, error) => errors.push(error) })
    const store = new StoredRows({})
    tables.attach(policies, store as never)
    store.put('p', { app: 'a' })
    tables.start()
    tables.settle()
    expect(errors).toMatchObject([{ details: { table: 'pods', reason: 'it has no index nowhere' } }])
  })
})
