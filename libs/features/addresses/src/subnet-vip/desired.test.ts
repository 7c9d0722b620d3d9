import { expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredSubnetVips } from './desired.ts'

it('is a virtual port for each address, of the ports that may take it', () => {
  const desired = desiredSubnetVips({
    subnet: 'blue',
    vips: [
      { address: '10.1.0.100', parents: ['a.shop', 'b.shop'] },
      { address: 'fd00:1::100', parents: [] },
    ],
  })
  const external_ids = { vendor: 'kube-ovn', ls: 'blue' }
  expect(shownRows(desired)).toEqual([
    {
      row: 'lsp-subnet-vip/blue-vip-10.1.0.100',
      name: 'blue-vip-10.1.0.100',
      type: 'virtual',
      options: { 'virtual-ip': '10.1.0.100', 'virtual-parents': 'a.shop,b.shop' },
      external_ids,
    },
    {
      row: 'lsp-subnet-vip/blue-vip-fd00:1::100',
      name: 'blue-vip-fd00:1::100',
      type: 'virtual',
      options: { 'virtual-ip': 'fd00:1::100', 'virtual-parents': undefined },
      external_ids,
    },
  ])
  expect(shownMembers(desired)).toEqual([
    'ls/blue ports: lsp-subnet-vip/blue-vip-10.1.0.100',
    'ls/blue ports: lsp-subnet-vip/blue-vip-fd00:1::100',
  ])
})
