import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { describe, expect, it } from 'vitest'
import { SchemaMismatchError } from './errors.ts'
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
