import { stillWorld } from '@kube-ovn/domains-control/testing/still-world'
import { node } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { observeNode } from './snapshot.ts'

function named(name: string, year: number, ...addresses: readonly string[]) {
  const { metadata, ...rest } = node({ name, addresses })
  return { ...rest, metadata: { ...metadata, creationTimestamp: `${year}-01-01T00:00:00Z` } }
}

it('gives an address that several nodes have to the youngest, whatever their names, and each its others', () => {
  const nodes = [
    named('b', 2024, '172.18.0.12', 'fd00:18::12'),
    named('a', 2026, '172.18.0.12', 'FD00:18:0::13'),
    named('c', 2025, '172.18.0.12', 'fd00:18::13'),
  ]
  const world = stillWorld({ nodes }, {})
  const has = (name: string) => observeNode(name, world)?.internalAddresses.map(({ address }) => address)
  expect(has('a')).toEqual(['172.18.0.12', 'FD00:18:0::13'])
  expect(has('b')).toEqual(['fd00:18::12'])
  expect(has('c')).toEqual([])
})
