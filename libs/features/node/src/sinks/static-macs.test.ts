import { expect, it } from 'vitest'
import { localnetPatchName } from '../local-ovs.ts'
import { compareEntries, staticMacs, type StaticMac } from './static-macs.ts'

const wharf: StaticMac = {
  ...{ bridge: 'br-quay', port: 'patch-localnet.wharf-to-br-int' },
  ...{ vlan: 100, mac: '00:00:5e:00:53:01' },
}
const pier: StaticMac = {
  ...wharf,
  ...{ port: localnetPatchName('pier'), vlan: 0, mac: '00:00:5e:00:53:02' },
}

function compare(wanted: readonly StaticMac[], present: Parameters<typeof compareEntries>[0]['present']) {
  return compareEntries({ wanted, ports: new Set([wharf.port, pier.port]), present })
}

it('writes what is missing, once', () => {
  expect(compare([wharf, pier], [wharf])).toEqual({ missing: [pier], surplus: [] })
  expect(compare([wharf, pier], [pier, wharf])).toEqual({ missing: [], surplus: [] })
})

it('waits for ports, and keeps what is there of them', () => {
  expect(compareEntries({ wanted: [wharf, pier], ports: new Set([wharf.port]), present: [] })).toEqual({
    missing: [wharf],
    surplus: [],
  })
  expect(compareEntries({ wanted: [pier], ports: new Set(), present: [pier] })).toEqual({
    missing: [],
    surplus: [],
  })
})

it('gives what two want to the first of them', () => {
  const second = { ...wharf, port: pier.port }
  expect(compare([wharf, second], [])).toEqual({ missing: [wharf], surplus: [] })
  expect(compare([wharf, second], [wharf])).toEqual({ missing: [], surplus: [] })
})

it('tells one MAC address in two VLANs apart', () => {
  const other = { ...wharf, vlan: 200 }
  expect(compare([wharf], [other])).toEqual({ missing: [wharf], surplus: [other] })
})

it('moves an entry from the port of another subnet', () => {
  expect(compare([wharf], [{ ...wharf, port: pier.port }])).toEqual({ missing: [wharf], surplus: [] })
})

it.each(['eth1', 'patch-quay-to-br-int', undefined])('leaves entries of others at port %s', (port) => {
  const theirs = { ...wharf, port }
  expect(compare([], [theirs])).toEqual({ missing: [], surplus: [] })
  // Also that of the very MAC address.
  expect(compare([wharf], [theirs])).toEqual({ missing: [], surplus: [] })
})

it.each([
  [{ mac: '00:00:5e:00:53' }, 'status.u2oInterconnectionMAC'],
  [{ vlan: 4096 }, 'spec.id'],
])('refuses %o', (change, field) => {
  expect(() => staticMacs.validate({ ...wharf, ...change })).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field }) }),
  )
})
