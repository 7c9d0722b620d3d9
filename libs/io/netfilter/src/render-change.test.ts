import { expect, it } from 'vitest'
import { renderChange } from './render-change.ts'
import type { Chain, NftMap, Table } from './types.ts'

const refuse: Chain = { name: 'refuse', rules: [{ statements: [{ reject: null }] }] }
const drop: Chain = { name: 'drop', rules: [{ statements: [{ drop: null }] }] }
const nobody: NftMap = {
  name: 'nobody',
  type: ['inet_proto', 'inet_service'],
  elements: [[{ concat: ['tcp', 80] }, { goto: { target: 'refuse' } }]],
}
const table: Table = { family: 'inet', name: 't', sets: [], maps: [nobody], chains: [refuse] }
const of = { family: 'inet', table: 't' }

it('says nothing where nothing differs, whoever made it', () => {
  expect(renderChange(table, table)).toEqual([])
  expect(renderChange(table, structuredClone(table))).toEqual([])
})

it('takes away what leads to a chain before the chain, and makes a chain before what leads to it', () => {
  const after: Table = {
    ...table,
    maps: [{ ...nobody, elements: [[{ concat: ['tcp', 80] }, { goto: { target: 'drop' } }]] }],
    chains: [drop],
  }
  const element = (target: string) => ({
    element: { ...of, name: 'nobody', elem: [[{ concat: ['tcp', 80] }, { goto: { target } }]] },
  })
  expect(renderChange(table, after)).toEqual([
    { add: { chain: { ...of, name: 'drop' } } },
    { delete: element('refuse') },
    { flush: { chain: { ...of, name: 'refuse' } } },
    { add: { rule: { ...of, chain: 'drop', expr: [{ drop: null }] } } },
    { add: element('drop') },
    { delete: { chain: { ...of, name: 'refuse' } } },
  ])
})

it('changes what differs of a set, and fills one of intervals anew', () => {
  const set = { name: 's', type: 'ipv4_addr', elements: ['192.0.2.1', '192.0.2.2'] } as const
  const intervals = { ...set, name: 'i', flags: ['interval'] } as const
  const elements = ['192.0.2.2', '192.0.2.3']
  const after = { ...table, sets: [set, intervals].map((one) => ({ ...one, elements })) }
  expect(renderChange({ ...table, sets: [set, intervals] }, after)).toEqual([
    { delete: { element: { ...of, name: 's', elem: ['192.0.2.1'] } } },
    { add: { element: { ...of, name: 's', elem: ['192.0.2.3'] } } },
    { flush: { set: { ...of, name: 'i' } } },
    { add: { element: { ...of, name: 'i', elem: elements } } },
  ])
})

it.each<readonly [string, Table]>([
  ['a map more', { ...table, maps: [nobody, { ...nobody, name: 'other' }] }],
  ['a map fewer', { ...table, maps: [] }],
  ['another type', { ...table, maps: [{ ...nobody, type: ['ifname', 'inet_service'] }] }],
  ['a set of another kind', { ...table, sets: [{ name: 's', type: 'ifname', elements: [] }] }],
  ['another hook', { ...table, chains: [{ ...refuse, base: { type: 'nat', hook: 'input', priority: 0 } }] }],
])('leaves it to a replacement: %s', (_what, after) => {
  expect(renderChange(table, after)).toBeUndefined()
})
