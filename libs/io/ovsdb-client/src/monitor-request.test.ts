import { describe, expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { layoutTable } from './layout.ts'
import { conditionChanges, planRequests, readUpdate, wireConditions } from './monitor-request.ts'
import type { DatabaseSchema } from './types.ts'

const zoo: DatabaseSchema = {
  name: 'Zoo',
  version: '1.0.0',
  tables: {
    Animal: {
      columns: {
        name: { type: 'string' },
        legs: { type: { key: 'integer', min: 0, max: 1 } },
        food: { type: { key: 'string', min: 0, max: 'unlimited' } },
        tags: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
  },
}
const layouts = [layoutTable(zoo, 'Animal', {})]

function offered(columns: DatabaseSchema['tables'][string]['columns']): DatabaseSchema {
  return { ...zoo, tables: { Animal: { columns } } }
}

describe('planRequests', () => {
  it('asks for the columns that the server has, with the conditions', () => {
    const conditions = new Map([['Animal', wireConditions(zoo, 'Animal', [['legs', '>', 4]])]])
    const newer = offered({ ...zoo.tables['Animal']?.columns, wings: { type: 'integer' } })
    expect(planRequests(layouts, conditions, newer)).toEqual({
      requests: { Animal: [{ columns: ['name', 'legs', 'food', 'tags'], where: [['legs', '>', 4]] }] },
      missing: [],
    })
  })

  it('tells which tables and columns the server lacks', () => {
    const older = offered({ name: { type: 'string' } })
    const missing = ['Animal.legs', 'Animal.food', 'Animal.tags']
    expect(planRequests(layouts, new Map(), older)).toEqual({ requests: { Animal: [{ columns: ['name'] }] }, missing }) // prettier-ignore
    expect(planRequests(layouts, new Map(), { ...zoo, tables: {} })).toEqual({ requests: {}, missing: ['Animal'] }) // prettier-ignore
  })

  it('gets all rows when the server lacks the column of a condition', () => {
    const conditions = new Map([['Animal', wireConditions(zoo, 'Animal', [['legs', '>', 4]])]])
    const { requests } = planRequests(layouts, conditions, offered({ name: { type: 'string' } }))
    expect(requests).toEqual({ Animal: [{ columns: ['name'] }] })
  })

  it.each([
    ['another atom', { legs: { type: { key: 'real', min: 0, max: 1 } } }, 'Animal.legs'],
    ['more values', { legs: { type: { key: 'integer', min: 0, max: 2 } } }, 'Animal.legs'],
    ['a single value', { food: { type: { key: 'string', min: 0, max: 1 } } }, 'Animal.food'],
    ['maybe no value', { name: { type: { key: 'string', min: 0, max: 1 } } }, 'Animal.name'],
    ['a set', { tags: { type: { key: 'string', min: 0, max: 'unlimited' } } }, 'Animal.tags'],
    ['one entry', { tags: { type: { key: 'string', value: 'string', min: 0, max: 1 } } }, 'Animal.tags'],
  ] as const)('does without a column that there is %s', (_name, changed, missing) => {
    const other = offered({ ...zoo.tables['Animal']?.columns, ...changed })
    expect(planRequests(layouts, new Map(), other).missing).toEqual([missing])
  })
})

it('no condition means no row, not every row', () => {
  expect(wireConditions(zoo, 'Animal', [])).toEqual([false])
})

it('changes only the conditions that differ', () => {
  const all = { A: [{ columns: [] }], B: [{ columns: [], where: [false] }] } as const
  expect(conditionChanges(all, all)).toEqual({})
  const none = { A: [{ columns: [], where: [false] }], B: [{ columns: [], where: [false] }] } as const
  expect(conditionChanges(all, none)).toEqual({ A: [{ where: [false] }] })
  expect(conditionChanges(none, all)).toEqual({ A: [{ where: [true] }] })
})

describe('readUpdate', () => {
  it('says the update of the RFC like update2', () => {
    const rows = { u1: { new: { name: 'a' } }, u2: { old: { name: 'b' }, new: { name: 'c' } }, u3: { old: { name: 'd' } } } // prettier-ignore
    expect(readUpdate('update', ['Zoo', { Animal: rows }])).toEqual({
      transaction: undefined,
      updates: {
        Animal: { u1: { insert: { name: 'a' } }, u2: { insert: { name: 'c' } }, u3: { delete: null } },
      },
    })
  })

  it.each([
    ['update', ['Zoo', null]],
    ['update', ['Zoo', { Animal: 7 }]],
    ['update3', ['Zoo', {}]],
  ])('refuses a malformed %s', (method, params) => {
    expect(() => readUpdate(method, params)).toThrow(ProtocolError)
  })
})
