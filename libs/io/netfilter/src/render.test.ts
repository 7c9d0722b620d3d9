import { describe, expect, it } from 'vitest'
import { renderRemoval, renderReplacement } from './render.ts'
import { masquerade, named, payload } from './statement.ts'
import type { Table } from './types.ts'

const table: Table = {
  family: 'inet',
  name: 'kube-ovn',
  sets: [
    {
      name: 'pods',
      type: 'ipv4_addr',
      flags: ['interval'],
      autoMerge: true,
      comment: 'pod prefixes',
      elements: [
        { prefix: { addr: '10.16.0.0', len: 16 } },
        { prefix: { addr: '10.16.4.0', len: 24 } },
        '10.99.0.1',
      ],
    },
    { name: 'none', type: 'ipv6_addr', elements: [] },
  ],
  chains: [
    {
      name: 'out',
      base: { type: 'nat', hook: 'postrouting', priority: 95 },
      rules: [
        {
          statements: [
            payload({ protocol: 'ip', field: 'saddr' }, named('pods')),
            { jump: { target: 'last' } },
          ],
          comment: 'pods leave',
        },
      ],
    },
    { name: 'last', rules: [{ statements: [masquerade('fully-random')] }] },
  ],
}

describe('renderReplacement', () => {
  it('replaces the table whole: sets, then chains, then the rules that use both', () => {
    const of = { family: 'inet', table: 'kube-ovn' }
    const key = { table: { family: 'inet', name: 'kube-ovn' } }
    expect(renderReplacement(table)).toEqual([
      { add: key },
      { delete: key },
      { add: key },
      {
        add: {
          set: {
            ...of,
            name: 'pods',
            type: 'ipv4_addr',
            flags: ['interval'],
            comment: 'pod prefixes',
            elem: [{ prefix: { addr: '10.16.0.0', len: 16 } }, '10.99.0.1'],
          },
        },
      },
      { add: { set: { ...of, name: 'none', type: 'ipv6_addr' } } },
      {
        add: {
          chain: { ...of, name: 'out', type: 'nat', hook: 'postrouting', prio: 95, policy: 'accept' },
        },
      },
      { add: { chain: { ...of, name: 'last' } } },
      {
        add: {
          rule: {
            ...of,
            chain: 'out',
            comment: 'pods leave',
            expr: [
              {
                match: {
                  op: '==',
                  left: { payload: { protocol: 'ip', field: 'saddr' } },
                  right: '@pods',
                },
              },
              { jump: { target: 'last' } },
            ],
          },
        },
      },
      { add: { rule: { ...of, chain: 'last', expr: [{ masquerade: { flags: ['fully-random'] } }] } } },
    ])
  })
})

describe('renderRemoval', () => {
  it('adds before it deletes, because deleting nothing fails', () => {
    expect(renderRemoval(table).map((command) => Object.keys(command))).toEqual([['add'], ['delete']])
  })
})
