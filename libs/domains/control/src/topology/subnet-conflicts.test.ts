import { expect, it } from 'vitest'
import { network } from '../testing/networks.ts'
import { sortNodeAddresses } from './node-addresses.ts'
import { findConflict, PlacesInUse } from './subnet-conflicts.ts'

const others = new PlacesInUse()
others.add(network('red', '10.2.0.0/16,fd00:2::/64'))
others.add(network('green', '10.3.0.0/24'))
const nodes = sortNodeAddresses([
  { node: 'n1', address: '172.18.0.11' },
  { node: 'n1', address: 'not an address' },
  { node: 'n2', address: 'fd00:18::12' },
])

it.each([
  ['10.1.0.0/16', undefined, undefined],
  ['10.2.9.0/24', 'Subnet/red', 'choose a prefix that does not overlap 10.2.0.0/16 of subnet red'],
  ['10.0.0.0/8', 'Subnet/red', 'choose a prefix that does not overlap 10.2.0.0/16 of subnet red'],
  [
    '10.1.0.0/16,fd00:2::/112',
    'Subnet/red',
    'choose a prefix that does not overlap fd00:2::/64 of subnet red',
  ],
  ['172.18.0.0/16', 'Node/n1', 'choose a prefix that does not contain the address 172.18.0.11 of node n1'],
  ['fd00:18::/64', 'Node/n2', 'choose a prefix that does not contain the address fd00:18::12 of node n2'],
])('%s conflicts with %s', (cidrBlock, conflictsWith, cure) => {
  const conflict = findConflict(network('blue', cidrBlock), others, nodes)
  expect(conflict?.details.conflictsWith).toBe(conflictsWith)
  expect(conflict?.details.cure).toBe(cure)
})

it('looks in one VPC at its own subnets alone, and not at nodes', () => {
  for (const cidrBlock of ['10.2.9.0/24', '172.18.0.0/16'])
    expect(findConflict(network('blue', cidrBlock, { vpc: 'v1' }), others, nodes)).toBeUndefined()
})

it('finds names that make the name of one port', () => {
  const inUse = new PlacesInUse()
  inUse.add(network('b-c', '10.5.0.0/24', { vpc: 'a' }))
  const conflict = findConflict(network('c', '10.6.0.0/24', { vpc: 'a-b' }), inUse, nodes)
  expect(conflict?.details).toMatchObject({ field: 'metadata.name', conflictsWith: 'Subnet/b-c' })
  expect(findConflict(network('c', '10.6.0.0/24', { vpc: 'a' }), inUse, nodes)).toBeUndefined()
})
