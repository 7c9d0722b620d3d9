import { parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredBfd, type BfdSnapshot } from './desired.ts'

const none: BfdSnapshot = {
  vpc: 'red',
  sessions: [],
  timers: { minTx: 100, minRx: 200, detectMult: 3 },
  port: undefined,
  newMac: '00:00:5e:00:53:01',
}

describe('desiredBfd', () => {
  it.each([
    ['IPv4', '10.5.204.7'],
    ['IPv6', 'fd00:5::7'],
  ])('supervises a next hop of %s by the port towards it', (_name, address) => {
    const sessions = [{ port: 'red-external', neighbour: parseIp(address) }]
    const desired = desiredBfd({ ...none, sessions })
    expect(shownRows(desired)).toEqual([
      {
        ...{ row: `bfd/red-external/${address}`, logical_port: 'red-external', dst_ip: address },
        ...{ min_tx: 100, min_rx: 200, detect_mult: 3, external_ids: { vendor: 'kube-ovn' } },
      },
    ])
    expect(shownMembers(desired)).toEqual([])
  })

  it.each([
    ['IPv4', '10.255.255.255'],
    ['IPv6', 'fd00:ff::ff'],
    ['both families', '10.255.255.255,fd00:ff::ff'],
  ])('has a port of %s, hosted by nodes in their order', (_name, addresses) => {
    const hosts = ['n1', 'n2'].map((node) => ({ node, chassis: `chassis-${node}` }))
    const desired = desiredBfd({ ...none, port: { addresses: parseIpList(addresses), hosts } })
    const group = { kind: 'hacg-bfd', id: 'bfd@red' }
    const ids = { vendor: 'kube-ovn', group: 'bfd@red' }
    expect(shownRows(desired)).toEqual([
      {
        ...{ row: 'lrp-bfd/bfd@red', name: 'bfd@red', networks: addresses.split(',') },
        ...{ options: { 'bfd-only': 'true' }, ha_chassis_group: group },
        external_ids: { vendor: 'kube-ovn', lr: 'red' },
      },
      {
        ...{ row: 'hacg-bfd/bfd@red', name: 'bfd@red' },
        external_ids: { vendor: 'kube-ovn', lrp: 'bfd@red' },
      },
      {
        ...{ row: 'hac-bfd/bfd@red/chassis-n1', chassis_name: 'chassis-n1', priority: 100 },
        external_ids: ids,
      },
      {
        ...{ row: 'hac-bfd/bfd@red/chassis-n2', chassis_name: 'chassis-n2', priority: 99 },
        external_ids: ids,
      },
    ])
    expect(desired.rows[0]?.onInsert).toEqual({ mac: none.newMac })
    expect(shownMembers(desired)).toEqual([
      'lr/red ports: lrp-bfd/bfd@red',
      'hacg-bfd/bfd@red ha_chassis: hac-bfd/bfd@red/chassis-n1',
      'hacg-bfd/bfd@red ha_chassis: hac-bfd/bfd@red/chassis-n2',
    ])
  })

  it('keeps the port without a host, and no priority is below nothing', () => {
    const addresses = parseIpList('10.255.255.255')
    expect(shownRows(desiredBfd({ ...none, port: { addresses, hosts: [] } }))).toHaveLength(2)
    const many = Array.from({ length: 103 }, (_one, place) => ({ node: `n${place}`, chassis: `c${place}` }))
    const rows = shownRows(desiredBfd({ ...none, port: { addresses, hosts: many } })).slice(2)
    expect([rows[100], rows[102]].map((row) => row?.['priority'])).toEqual([0, 0])
  })

  it('has nothing where nothing is asked for', () => {
    expect(shownRows(desiredBfd(none))).toEqual([])
  })
})
