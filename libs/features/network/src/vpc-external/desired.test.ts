import { expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredExternals, type ExternalsSnapshot } from './desired.ts'

const mac = '00:00:5e:00:53:01'
const end = { mac, networks: ['10.5.204.11/24', 'fd00:5::b/120'] }
const connection = { subnet: 'external', eip: 'red-external', end, chassis: ['c2', 'c1'] }
const snapshot: ExternalsSnapshot = { vpc: 'red', uid: 'u1', connections: [connection], stale: [] }

it('is a port on each side, and a host for each gateway node, the preferred one first', () => {
  const desired = desiredExternals(snapshot)
  const vendor = { vendor: 'kube-ovn' }
  const host = (chassis: string, priority: number) => ({
    row: `gwc/red-external-${chassis}`,
    ...{ name: `red-external-${chassis}`, chassis_name: chassis, priority },
    external_ids: { ...vendor, lrp: 'red-external' },
  })
  expect(shownRows(desired)).toEqual([
    {
      row: 'lsp-external/external-red',
      ...{ name: 'external-red', type: 'router', addresses: ['router'] },
      options: { 'router-port': 'red-external' },
      external_ids: { ...vendor, ls: 'external' },
    },
    {
      row: 'lrp-external/red-external',
      ...{ name: 'red-external', mac, networks: end.networks, external_ids: { ...vendor, lr: 'red' } },
    },
    ...[host('c2', 100), host('c1', 99)],
  ])
  expect(shownMembers(desired)).toEqual([
    'ls/external ports: lsp-external/external-red',
    'lr/red ports: lrp-external/red-external',
    'lrp-external/red-external gateway_chassis: gwc/red-external-c2',
    'lrp-external/red-external gateway_chassis: gwc/red-external-c1',
  ])
})

it('has no port without an address or a gateway node, and keeps the OvnEip', () => {
  for (const lacking of [{ end: undefined }, { chassis: [] }]) {
    const desired = desiredExternals({ ...snapshot, connections: [{ ...connection, ...lacking }] })
    expect(desired.rows).toEqual([])
    expect(shownPatches(desired)).toMatchObject([{ object: 'ovn-eips/red-external' }])
  }
})

it('takes OvnEips away that it made, and that are of no connection any more', () => {
  const desired = desiredExternals({ ...snapshot, uid: undefined, connections: [], stale: ['red-second'] })
  expect(desired.patches).toMatchObject([{ name: 'red-second', remove: true }])
  expect(desired.rows).toEqual([])
})
