import { expect, it } from 'vitest'
import { missedWithout } from './only-nic.ts'

type Link = Parameters<typeof missedWithout>[1][number]

const eth0: Link = {
  ...{ index: 2, name: 'eth0' },
  addresses: ['192.0.2.10/24', 'fd00:2::10/64'],
  defaultRoutes: ['ipv4', 'ipv6'],
}
const eth1: Link = { index: 3, name: 'eth1', addresses: ['10.99.0.2/24'], defaultRoutes: [] }
const ours = ['192.0.2.10', 'fd00:2::10']
const none: Parameters<typeof missedWithout>[0]['vlans'] = { preservesAll: false, named: [] }

function missed(nic: Link | undefined, others: readonly Link[], vlans = none, addresses = ours) {
  return missedWithout({ nic, vlans }, [...(nic === undefined ? [] : [nic]), ...others], addresses)
}

it.each([
  { title: 'has all', nic: eth0, others: [eth1], wanted: ['IPv4', 'IPv6'] },
  { title: 'has neither the address nor a default route', nic: eth1, others: [eth0], wanted: [] },
  { title: 'is not there', nic: undefined, others: [eth0, eth1], wanted: [] },
  {
    title: 'is one of two with default routes',
    ...{ nic: eth0, others: [{ ...eth1, defaultRoutes: ['ipv4', 'ipv6'] as const }], wanted: [] },
  },
  {
    title: 'has the only default route of one family',
    ...{ nic: eth0, others: [{ ...eth1, defaultRoutes: ['ipv4'] as const }], wanted: ['IPv6'] },
  },
  {
    title: 'has the address of a node without default routes',
    ...{ nic: { ...eth0, defaultRoutes: [] }, others: [eth1], wanted: ['IPv4', 'IPv6'] },
  },
  {
    title: 'has a default route and not the address',
    ...{ nic: { ...eth1, defaultRoutes: ['ipv4'] as const }, others: [], wanted: ['IPv4'] },
  },
  {
    title: 'has a VLAN interface that leads out, too',
    ...{
      nic: eth0,
      others: [{ ...eth1, name: 'eth0.7', vlanOf: 2, defaultRoutes: ['ipv4'] as const }],
      wanted: ['IPv4', 'IPv6'],
    },
  },
])('a NIC that $title is missed for: $wanted', ({ nic, others, wanted }) => {
  expect(missed(nic, others)).toEqual(wanted)
})

it('is missed with VLAN interfaces that go along, and not with those that stay', () => {
  const bare: Link = { index: 2, name: 'eth0', addresses: [], defaultRoutes: [] }
  const vlan: Link = { ...eth0, index: 4, name: 'eth0.7', vlanOf: 2 }
  expect(missed(bare, [vlan])).toEqual([])
  expect(missed(bare, [vlan], { preservesAll: true, named: [] })).toEqual(['IPv4', 'IPv6'])
  expect(missed(bare, [vlan], { preservesAll: false, named: ['eth0.7'] })).toEqual(['IPv4', 'IPv6'])
  expect(missed(bare, [vlan], { preservesAll: false, named: ['eth0.8'] })).toEqual([])
})
