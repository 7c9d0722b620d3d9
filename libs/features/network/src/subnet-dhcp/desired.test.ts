import { expect, it } from 'vitest'
import { shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredDhcp } from './desired.ts'

const v4 = { cidr: '10.17.0.0/16', options: { lease_time: '3600' } }
const v6 = { cidr: 'fd00:10:17::/112', options: { server_id: '02:00:5e:00:53:01' } }
const none = { answer: undefined, rowId: undefined, said: '' }

it('is a row for each family, which the status names once it is there', () => {
  const desired = desiredDhcp({
    subnet: 'blue',
    families: [
      { family: 4, answer: v4, rowId: 'u4', said: '' },
      { family: 6, answer: v6, rowId: undefined, said: 'gone' },
    ],
  })
  const ids = { vendor: 'kube-ovn', ls: 'blue' }
  expect(shownRows(desired)).toEqual([
    { row: 'dhcp-subnet/blue/4', ...v4, external_ids: { ...ids, protocol: 'IPv4' } },
    { row: 'dhcp-subnet/blue/6', ...v6, external_ids: { ...ids, protocol: 'IPv6' } },
  ])
  expect(shownPatches(desired)).toEqual([
    { object: 'subnets/blue/status', status: { dhcpV4OptionsUUID: 'u4' } },
  ])
})

it('is nothing where no family is answered, and the status says so if it said otherwise', () => {
  const families = [
    { family: 4, ...none, said: 'u4' },
    { family: 6, ...none },
  ] as const
  const desired = desiredDhcp({ subnet: 'blue', families })
  expect(desired.rows).toEqual([])
  expect(shownPatches(desired)).toEqual([
    { object: 'subnets/blue/status', status: { dhcpV4OptionsUUID: '' } },
  ])
})
