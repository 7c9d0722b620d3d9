import { describe, expect, it } from 'vitest'
import { subnet } from '@kube-ovn/testing-builders'
import { lease } from '@kube-ovn/domains-control/testing/networks'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredMulticast, type MulticastSnapshot } from './desired.ts'

const nic = 'mcast-querier.blue'
const mac = '00:00:5e:00:53:01'

function snapshot(address: string | undefined): MulticastSnapshot {
  const held = {
    ...{ problem: undefined, records: [], saysGeneration: true },
    object: subnet({ name: 'blue', cidrBlock: '10.1.0.0/16' }),
  }
  const had = address === undefined ? undefined : lease('blue', nic, address, mac)
  return { subnet: 'blue', address: { ...held, nic: had && nic, lease: had }, saysQuerier: false }
}

const said = (given: MulticastSnapshot) =>
  shownPatches(desiredMulticast(given)).filter(({ object }) => object === 'subnets/blue/status')

describe('desiredMulticast', () => {
  it.each(['10.1.0.5', 'fd00:1::5', '10.1.0.5,fd00:1::5'])(
    'is a port that queries come from, with %s, and the status says so',
    (address) => {
      const given = snapshot(address)
      const row = 'lsp-querier/blue'
      expect(shownRows(desiredMulticast(given))).toEqual([
        {
          ...{ row, name: 'mcast-querier.blue', addresses: [`${mac} ${address.replace(',', ' ')}`] },
          external_ids: { vendor: 'kube-ovn', ls: 'blue', pod: `default/${nic}` },
        },
      ])
      expect(shownMembers(desiredMulticast(given))).toEqual([`ls/blue ports: ${row}`])
      expect(said(given)).toEqual([
        { object: 'subnets/blue/status', status: { mcastQuerierIP: address, mcastQuerierMAC: mac } },
      ])
    },
  )

  it('has no port, and says nothing, where nobody snoops or no address is to be had', () => {
    for (const given of [
      snapshot(undefined),
      { ...snapshot(undefined), address: { ...snapshot(undefined).address, nic } },
    ]) {
      expect(shownRows(desiredMulticast(given))).toEqual([])
      expect(said(given)).toEqual([])
    }
  })

  it('takes back what the status said', () => {
    expect(said({ ...snapshot(undefined), saysQuerier: true })).toEqual([
      { object: 'subnets/blue/status', status: { mcastQuerierIP: '', mcastQuerierMAC: '' } },
    ])
  })
})
