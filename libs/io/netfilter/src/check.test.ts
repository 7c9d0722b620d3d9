import { expect, it } from 'vitest'
import { checkTable } from './check.ts'
import { InvalidSetError, InvalidTableError } from './errors.ts'
import * as statement from './statement.ts'
import type { NftSet, Table } from './types.ts'

const pods: NftSet = { name: 'pods', type: 'ipv4_addr', autoMerge: true, elements: ['10.16.0.5'] }
const fromPods = statement.payload({ protocol: 'ip', field: 'saddr' }, statement.named('pods'))
const good: Table = {
  family: 'inet',
  name: 'kube-ovn',
  sets: [pods],
  chains: [
    { name: 'first', rules: [{ statements: [fromPods, statement.jump('second')] }] },
    { name: 'second', rules: [{ statements: [statement.drop] }] },
    {
      name: 'third',
      rules: [
        { statements: [{ vmap: { key: { payload: { protocol: 'th', field: 'dport' } }, data: '@ports' } }] },
      ],
    },
  ],
  maps: [
    {
      name: 'ports',
      type: ['inet_service'],
      elements: [[{ concat: [80] }, { goto: { target: 'second' } }]],
    },
  ],
}

it('passes a table whose sets and chains are there', () => {
  expect(() => checkTable(good)).not.toThrow()
})

it.each<readonly [string, Table, typeof InvalidTableError | typeof InvalidSetError]>([
  ['a jump to nowhere', { ...good, chains: good.chains.slice(0, 1) }, InvalidTableError],
  ['a set that is not there', { ...good, sets: [] }, InvalidTableError],
  ['a map that is not there', { ...good, maps: [] }, InvalidTableError],
  ['a map that leads to nowhere', { ...good, chains: good.chains.slice(2) }, InvalidTableError],
  ['two chains of a name', { ...good, chains: [...good.chains, ...good.chains] }, InvalidTableError],
  ['no name', { ...good, sets: [pods, { ...pods, name: '' }] }, InvalidTableError],
  ['an address of another family', { ...good, sets: [{ ...pods, elements: ['fd00::1'] }] }, InvalidSetError],
])('refuses %s', (_name, table, error) => {
  expect(() => checkTable(table)).toThrow(error)
})
