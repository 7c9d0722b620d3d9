import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError, SchemaMismatchError } from './errors.ts'
import { layoutTable } from './layout.ts'
import { RowCache, type RowDifference } from './row-cache.ts'
import { IncomingDump, type IncomingRows, IncomingUpdate, type TableUpdates } from './table-updates.ts'
import type { DatabaseSchema } from './types.ts'

const unlimited = { min: 0, max: 'unlimited' } as const
const schema: DatabaseSchema = {
  name: 'Zoo',
  version: '1.0.0',
  tables: {
    Animal: {
      columns: {
        name: { type: 'string' },
        age: { type: { key: 'integer', min: 0 } },
        foods: { type: { key: 'string', ...unlimited } },
        tags: { type: { key: 'string', value: 'string', ...unlimited } },
      },
    },
  },
}

type Animal = {
  readonly _uuid: string
  readonly name: string
  readonly age: number | undefined
  readonly foods: readonly string[]
  readonly tags: Readonly<Record<string, string>>
}
type Zoo = { readonly Animal: Animal }

const indexes = ['name', 'age', 'foods', 'tags:keeper']

function zoo(updates: TableUpdates = {}): RowCache<Zoo> {
  const cache = new RowCache<Zoo>([layoutTable(schema, 'Animal', { indexes })])
  change(cache, updates)
  return cache
}

function change(cache: RowCache<Zoo>, updates: TableUpdates): readonly RowDifference[] {
  return applyAll(new IncomingUpdate(cache), updates)
}

function applyAll(incoming: IncomingRows, updates: TableUpdates): readonly RowDifference[] {
  for (const [table, rows] of Object.entries(updates)) incoming.take(table, rows)
  return incoming.apply()
}

const leo = { name: 'Leo', foods: ['set', ['meat', 'fish']], tags: ['map', [['keeper', 'Ann']]] }

describe('IncomingUpdate', () => {
  it('gives columns that an insert leaves out their defaults', () => {
    const cache = zoo({ Animal: { a: { insert: { name: 'Leo' } } } })
    expect(cache.get('Animal', 'a')).toEqual({ _uuid: 'a', name: 'Leo', age: undefined, foods: [], tags: {} })
  })

  it('applies differences and shares what stays the same', () => {
    const cache = zoo({ Animal: { a: { initial: leo } } })
    const old = cache.get('Animal', 'a')
    const modify = { age: 4, foods: ['set', ['meat', 'hay']] }
    const [changed] = change(cache, { Animal: { a: { modify } } })
    expect(changed?.old).toBe(old)
    expect(changed?.new).toEqual({ ...old, age: 4, foods: ['fish', 'hay'] })
    expect(changed?.new?.['tags']).toBe(old?.tags)
    expect(old?.age).toBeUndefined()
  })

  it('tells which elements joined or left a set', () => {
    const cache = zoo({ Animal: { a: { initial: leo } } })
    const modify = { name: 'Leon', foods: ['set', ['meat', 'hay']] }
    const [changed] = change(cache, { Animal: { a: { modify } } })
    expect(changed?.elements).toEqual(new Map([['foods', ['hay', 'meat']]]))
  })

  it('tells which entries of a map differ', () => {
    const tags = ['map', Array.from({ length: 300 }, (_, n) => [`tag${n}`, 'old'])]
    const cache = zoo({ Animal: { a: { initial: { ...leo, tags } } } })
    const difference = [
      ['tag0', 'old'],
      ['tag1', 'new'],
      ['keeper', 'Bob'],
    ]
    const [changed] = change(cache, { Animal: { a: { modify: { age: 4, tags: ['map', difference] } } } })
    expect(changed?.entries).toEqual(new Map([['tags', ['tag0', 'tag1', 'keeper']]]))
    expect(changed?.new?.['tags']).not.toHaveProperty('tag0')
  })

  it('gives the rows of a table one shape, whatever columns were sent, and shares what is empty', () => {
    const cache = zoo({
      Animal: {
        a: { initial: leo },
        b: { initial: { tags: leo.tags, age: 1 } },
        c: { insert: {} },
        d: { insert: { name: 'Di' } },
      },
    })
    change(cache, { Animal: { b: { modify: { foods: leo.foods, name: 'Bo' } } } })
    const rows = [...cache.scan('Animal')]
    for (const animal of rows) expect(Object.keys(animal)).toEqual(['_uuid', 'name', 'age', 'foods', 'tags'])
    expect(cache.get('Animal', 'c')?.foods).toBe(cache.get('Animal', 'd')?.foods)
  })

  it('finds nothing changed in a row that is sent again', () => {
    const cache = zoo({ Animal: { a: { insert: leo } } })
    expect(change(cache, { Animal: { a: { insert: leo } } })).toEqual([])
  })

  it.each<TableUpdates>([
    { Animal: { a: { modify: {} } } },
    { Plant: { a: { insert: {} } } },
    { Animal: { a: {} } },
    { Animal: { b: { insert: leo }, a: { insert: { name: 7 } } } },
  ])('refuses %j and changes nothing', (updates) => {
    const cache = zoo()
    expect(() => change(cache, updates)).toThrow(ProtocolError)
    expect(cache.count('Animal')).toBe(0)
  })

  it('refuses a modification of a column that is not monitored', () => {
    const cache = zoo({ Animal: { a: { insert: leo } } })
    expect(() => change(cache, { Animal: { a: { modify: { colour: 'red' } } } })).toThrow(ProtocolError)
  })
})

describe('IncomingDump', () => {
  it('finds only what differs from before', () => {
    const cache = zoo({
      Animal: { a: { initial: leo }, b: { initial: { name: 'Bo' } }, c: { initial: { name: 'Cy' } } },
    })
    const dump = {
      Animal: { a: { initial: leo }, b: { initial: { name: 'Bob' } }, d: { initial: { name: 'Di' } } },
    }
    const changes = applyAll(new IncomingDump(cache), dump).map((change) => [
      change.old?.['name'],
      change.new?.['name'],
    ])
    expect(changes).toEqual([
      ['Cy', undefined],
      ['Bo', 'Bob'],
      [undefined, 'Di'],
    ])
  })
})

describe('rows that arrive in parts', () => {
  it('are in the cache when all are there, or not at all', () => {
    const cache = zoo({ Animal: { a: { initial: leo } } })
    const before = cache.get('Animal', 'a')
    for (const incoming of [new IncomingDump(cache), new IncomingUpdate(cache)]) {
      incoming.take('Animal', { b: { insert: { name: 'Bo' } } })
      expect(() => incoming.take('Animal', { c: { insert: { name: 7 } } })).toThrow(ProtocolError)
    }
    const incoming = new IncomingDump(cache)
    incoming.take('Animal', { a: { initial: { name: 'Leon' } } })
    incoming.take('Animal', { b: { initial: { name: 'Bo' } } })
    expect([...cache.scan('Animal')]).toEqual([before])
    expect(cache.find('Animal', 'name', 'Bo')).toEqual([])
    incoming.apply()
    expect([...cache.scan('Animal')].map(({ name }) => name)).toEqual(['Leon', 'Bo'])
    expect(cache.find('Animal', 'name', 'Bo')).toHaveLength(1)
    expect(cache.find('Animal', 'tags:keeper', 'Ann')).toEqual([])
  })
})

describe('indexes', () => {
  it('agree with a full scan after any changes', () => {
    const word = fc.constantFrom('x', 'y', 'z')
    const row = fc.record({
      name: word,
      age: fc.constantFrom(['set', []], 1, 2),
      foods: fc.uniqueArray(word).map((foods) => ['set', foods]),
      tags: fc
        .dictionary(fc.constantFrom('keeper', 'other'), word)
        .map((tags) => ['map', Object.entries(tags)]),
    })
    const update = fc.oneof(
      row.map((insert) => ({ insert })),
      fc.constant({ delete: null }),
      // A set whose elements are those that join or leave.
      row.map(({ name, foods }) => ({ modify: { name, foods } })),
    )
    const step = fc.record({ uuid: fc.constantFrom('a', 'b', 'c', 'd'), rowUpdate: update })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const cache = zoo()
        for (const { uuid, rowUpdate } of steps) {
          if ('modify' in rowUpdate && cache.get('Animal', uuid) === undefined) continue
          change(cache, { Animal: { [uuid]: rowUpdate } })
        }
        const matching = (test: (animal: Animal) => boolean): readonly Animal[] =>
          [...cache.scan('Animal')].filter(test)
        const byId = (rows: readonly Animal[]): readonly Animal[] =>
          rows.toSorted((a, b) => (a._uuid < b._uuid ? -1 : 1))
        for (const key of ['x', 'y', 'z']) {
          expect(byId(cache.find('Animal', 'name', key))).toEqual(byId(matching(({ name }) => name === key)))
          expect(byId(cache.find('Animal', 'foods', key))).toEqual(
            byId(matching(({ foods }) => foods.includes(key))),
          )
          const kept = matching(({ tags }) => tags['keeper'] === key)
          expect(byId(cache.find('Animal', 'tags:keeper', key))).toEqual(byId(kept))
        }
        for (const key of [1, 2]) {
          expect(byId(cache.find('Animal', 'age', key))).toEqual(byId(matching(({ age }) => age === key)))
        }
      }),
    )
  })

  it('must have been declared', () => {
    expect(() => zoo().find('Animal', 'tags:other', 'x')).toThrow(SchemaMismatchError)
  })
})

describe('layoutTable', () => {
  it.each([
    { table: 'Plant', selection: {} },
    { table: 'constructor', selection: {} },
    { table: 'Animal', selection: { columns: ['colour'] } },
    { table: 'Animal', selection: { columns: ['name'], indexes: ['age'] } },
    { table: 'Animal', selection: { indexes: ['tags'] } },
    { table: 'Animal', selection: { indexes: ['foods:meat'] } },
  ])('refuses $table $selection', ({ table, selection }) => {
    expect(() => layoutTable(schema, table, selection)).toThrow(SchemaMismatchError)
  })
})
