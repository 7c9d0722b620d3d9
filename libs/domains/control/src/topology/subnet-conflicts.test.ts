import { expect, it } from 'vitest'
import { network } from '../testing/networks.ts'
import { sortNodeAddresses } from './node-addresses.ts'
import { findConflict, PrefixesInUse } from './subnet-conflicts.ts'

const others = new PrefixesInUse()
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
