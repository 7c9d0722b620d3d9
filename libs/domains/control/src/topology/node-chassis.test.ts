import type { Node } from '@kube-ovn/kube-api/core'
import { node, vpc } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { nodePlaces } from '../services/index.ts'
import { stillWorld } from '../testing/still-world.ts'

function told(name: string, chassis: string, creationTimestamp: string): Node {
  const one = node({ name, annotations: { 'ovn.kubernetes.io/chassis': chassis } })
  return { ...one, metadata: { ...one.metadata, creationTimestamp } }
}

// Names say nothing about which one is the later.
it.each([
  ['a-former', 'b-later'],
  ['b-former', 'a-later'],
])('a chassis that two Nodes tell, %s and %s, is that of the later one', (former, later) => {
  const nodes = [
    told(former, 'same', '2026-01-01T00:00:00Z'),
    told(later, 'same', '2026-02-01T00:00:00Z'),
    told('other', 'another', '2026-01-01T00:00:00Z'),
  ]
  const vpcs = [vpc({ name: 'red', bfdPort: { enabled: true, ip: '10.255.255.255' } })]
  const world = stillWorld({ nodes, vpcs }, {}, { declarations: { watches: [], tables: [nodePlaces] } })
  const want = [
    { node: later, chassis: 'same' },
    { node: 'other', chassis: 'another' },
  ]
  expect(world.table(nodePlaces).scan()).toMatchObject(want)
  expect(world.vpcPlans.get('red')?.bfdPort?.hosts).toEqual(want)
})
