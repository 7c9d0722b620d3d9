import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { describe, expect, it } from 'vitest'
import { InvalidIdentifierError, SchemaMismatchError } from './errors.ts'
import { named, operationsFor } from './operations.ts'

const operations = operationsFor<OvnNorthbound>(ovnNorthboundSchema)
const uuid = '0d5b0e7c-7d5c-4b1f-9d0e-5f3f2d3a1b00'
const where = [['_uuid', '==', ['uuid', uuid]]]

describe('operations', () => {
  it.each([
    {
      name: 'an insert',
      operation: operations.insert(
        'Logical_Switch',
        { name: 'sw0', ports: [named('p')], copp: undefined },
        'sw',
      ),
      want: {
        op: 'insert',
        table: 'Logical_Switch',
        row: { name: 'sw0', ports: ['named-uuid', 'p'], copp: ['set', []] },
        'uuid-name': 'sw',
      },
    },
    {
      name: 'an update',
      operation: operations.update('Logical_Switch', uuid, { external_ids: { a: 'b' } }),
      want: { op: 'update', table: 'Logical_Switch', where, row: { external_ids: ['map', [['a', 'b']]] } },
    },
    {
      name: 'mutations of sets, maps and numbers',
      operation: operations.mutate('Logical_Switch', uuid, [
        ['ports', 'insert', named('p')],
        ['external_ids', 'insert', { a: 'b' }],
        ['external_ids', 'delete', ['a', 'b']],
        ['external_ids', 'delete', { c: 'd' }],
      ]),
      want: {
        op: 'mutate',
        table: 'Logical_Switch',
        where,
        mutations: [
          ['ports', 'insert', ['named-uuid', 'p']],
          ['external_ids', 'insert', ['map', [['a', 'b']]]],
          ['external_ids', 'delete', ['set', ['a', 'b']]],
          ['external_ids', 'delete', ['map', [['c', 'd']]]],
        ],
      },
    },
    {
      name: 'an increment',
      operation: operations.mutate('NB_Global', uuid, [['nb_cfg', '+=', 1]]),
      want: { op: 'mutate', table: 'NB_Global', where, mutations: [['nb_cfg', '+=', 1]] },
    },
    {
      name: 'a removal of a row of the same transaction',
      operation: operations.remove('ACL', named('acl')),
      want: { op: 'delete', table: 'ACL', where: [['_uuid', '==', ['named-uuid', 'acl']]] },
    },
    {
      name: 'a removal of all rows',
      operation: operations.removeAll('ACL'),
      want: { op: 'delete', table: 'ACL', where: [] },
    },
    {
      name: 'a wait',
      operation: operations.wait('Logical_Switch', uuid, '==', { name: 'sw0' }),
      want: {
        op: 'wait',
        table: 'Logical_Switch',
        where,
        columns: ['name'],
        until: '==',
        rows: [{ name: 'sw0' }],
        timeout: 0,
      },
    },
    {
      name: 'a selection',
      operation: operations.select('Logical_Switch', [['name', '!=', 'sw0']], ['name']),
      want: { op: 'select', table: 'Logical_Switch', where: [['name', '!=', 'sw0']], columns: ['name'] },
    },
    {
      name: 'an insert with an id of its own',
      operation: operations.insert('Logical_Switch', { name: 'sw0' }, { name: 'sw', uuid }),
      want: { op: 'insert', table: 'Logical_Switch', row: { name: 'sw0' }, 'uuid-name': 'sw', uuid },
    },
    {
      name: 'an update of the rows that meet conditions',
      operation: operations.update(
        'ACL',
        [
          ['priority', '>=', 100],
          ['external_ids', 'includes', { owner: 'me' }],
          ['name', '==', undefined],
        ],
        { log: true },
      ),
      want: {
        op: 'update',
        table: 'ACL',
        where: [
          ['priority', '>=', 100],
          ['external_ids', 'includes', ['map', [['owner', 'me']]]],
          ['name', '==', ['set', []]],
        ],
        row: { log: true },
      },
    },
    {
      name: 'a removal by a set',
      operation: operations.remove('Address_Set', [['addresses', 'excludes', ['10.0.0.1']]]),
      want: { op: 'delete', table: 'Address_Set', where: [['addresses', 'excludes', '10.0.0.1']] },
    },
    {
      name: 'a wait for there being no row',
      operation: operations.wait('ACL', [], '==', [], Infinity),
      want: { op: 'wait', table: 'ACL', where: [], columns: ['_uuid'], until: '==', rows: [] },
    },
    {
      name: 'a wait with a time limit',
      operation: operations.wait('Logical_Switch', uuid, '!=', { name: 'a' }, 500),
      want: { op: 'wait', table: 'Logical_Switch', where, columns: ['name'], until: '!=', rows: [{ name: 'a' }], timeout: 500 },
    }, // prettier-ignore
    { name: 'a commit to disk', operation: operations.commit(true), want: { op: 'commit', durable: true } },
    { name: 'an abort', operation: operations.abort(), want: { op: 'abort' } },
    {
      name: 'a comment that the server can read',
      operation: operations.comment('a\0\ud800b'),
      want: { op: 'comment', comment: 'a\ufffdb' },
    },
    { name: 'an assertion', operation: operations.assertLock('l'), want: { op: 'assert', lock: 'l' } },
    { name: 'a comment', operation: operations.comment('why'), want: { op: 'comment', comment: 'why' } },
  ])('write $name', ({ operation, want }) => expect(operation).toEqual(want))

  it('name the column, the value and what would have been right', () => {
    const untyped = operationsFor(ovnNorthboundSchema)
    expect(() => untyped.update('ACL', uuid, { priority: 'high' })).toThrow(
      expect.objectContaining({
        code: 'ovsdb-schema-mismatch',
        details: { table: 'ACL', column: 'priority', value: 'high', expected: 'an integer value' },
      }),
    )
    expect(() => untyped.insert('ACL', { prio: 1 })).toThrow(SchemaMismatchError)
    expect(() => untyped.insert('Acl', {})).toThrow(SchemaMismatchError)
    expect(() => untyped.remove('ACL', 'not-a-uuid')).toThrow(SchemaMismatchError)
  })
})

describe('a condition', () => {
  const untyped = operationsFor(ovnNorthboundSchema)

  it.each([
    ['name', '<', 'a'],
    ['external_ids', '>=', {}],
    ['ports', '>', []],
  ] as const)('does not order %s', (column, comparison, value) => {
    expect(() => untyped.select('Logical_Switch', [[column, comparison, value]])).toThrow(SchemaMismatchError)
  })

  it('takes only columns and values of the table', () => {
    expect(() => untyped.select('Logical_Switch', [['colour', '==', 'red']])).toThrow(SchemaMismatchError)
    expect(() => untyped.select('Logical_Switch', [['name', '==', 1]])).toThrow(SchemaMismatchError)
    // @ts-expect-error the row type has no such column
    expect(() => operations.select('Logical_Switch', [['colour', '==', 'red']])).toThrow(SchemaMismatchError)
  })
})

it.each(['two-words', '1st', ''])('no row of a transaction and no lock is called %j', (name) => {
  expect(() => operations.insert('ACL', {}, name)).toThrow(InvalidIdentifierError)
  expect(() => operations.assertLock(name)).toThrow(InvalidIdentifierError)
})
