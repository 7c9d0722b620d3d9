import { parseCidrList, parseIpList, parseMac } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { auditRecords, Ipam, judgeRecord, restoreRecords, type AddressRecord } from './index.ts'

const mac = '00:00:5e:00:53:01'

function record(name: string, addresses: string, more: Partial<AddressRecord> = {}): AddressRecord {
  return { subnet: 's', nic: name, owner: `pod/ns/${name}`, addresses: parseIpList(addresses), ...more }
}

/** Two pods and a Vip, which share nothing, as their records say. */
const records = [
  record('a', '10.0.0.2,fd00::2', { mac }),
  record('b', '10.0.0.3,fd00::3', { mac: false }),
  record('v', '10.0.0.4,fd00::4', { owner: 'vip/v', mac: false }),
]

function restored(): Ipam {
  const ipam = new Ipam((bytes) => new Uint8Array(bytes))
  const gateways = parseIpList('10.0.0.1,fd00::1')
  ipam.setSubnet({ name: 's', cidrs: parseCidrList('10.0.0.0/28,fd00::/124'), gateways, excludeIps: [] })
  expect(restoreRecords(ipam, records)).toEqual([])
  return ipam
}

describe('judgeRecord', () => {
  const cases: readonly [string, AddressRecord, readonly unknown[]][] = [
    ['what the NIC has', record('a', '10.0.0.2', { mac }), []],
    ['what it has, of another kind of pod', record('a', '10.0.0.2', { owner: 'statefulset-pod/ns/a' }), []],
    [
      'an address of another owner',
      record('a', '10.0.0.3'),
      [{ rule: 'held-twice', address: '10.0.0.3', owners: ['pod/ns/a', 'pod/ns/b'] }],
    ],
    [
      'the NIC of another owner',
      record('v', '10.0.0.4'),
      [{ rule: 'held-twice', address: '10.0.0.4', owners: ['pod/ns/v', 'vip/v'] }],
    ],
    ['an address of another owner, which may be shared', record('x', '10.0.0.3', { isShared: true }), []],
    [
      'the gateway',
      record('x', 'fd00::1'),
      [{ rule: 'held-twice', address: 'fd00::1', owners: ['pod/ns/x', 'router-port/s'] }],
    ],
    [
      'one free address and one that is held',
      record('x', '10.0.0.9,fd00::4'),
      [
        { rule: 'unheld', address: '10.0.0.9', owners: ['pod/ns/x'] },
        { rule: 'held-twice', address: 'fd00::4', owners: ['pod/ns/x', 'vip/v'] },
      ],
    ],
    [
      'an address that another NIC of the owner has',
      record('a2', '10.0.0.2', { owner: 'pod/ns/a' }),
      [{ rule: 'unheld', address: '10.0.0.2', owners: ['pod/ns/a'] }],
    ],
    ['an address of no port', record('x', '10.0.0.15'), [{ rule: 'outside', address: '10.0.0.15' }]],
    ['an unknown subnet', record('x', '10.0.0.9', { subnet: 't' }), [{ rule: 'outside', subnet: 't' }]],
    [
      'the MAC address of another owner',
      { ...record('b', '10.0.0.3'), mac: mac.toUpperCase() },
      [{ rule: 'mac-held-twice', owners: ['pod/ns/b', 'pod/ns/a'] }],
    ],
  ]
  it.each(cases)('judges a record that claims %s', (_, claim, want) => {
    expect(judgeRecord(restored(), claim)).toMatchObject(want)
  })

  it('finds an address that became the gateway although its NIC has it', () => {
    const ipam = restored()
    const gateways = parseIpList('10.0.0.2,fd00::1')
    ipam.setSubnet({ name: 's', cidrs: parseCidrList('10.0.0.0/28,fd00::/124'), gateways, excludeIps: [] })
    expect(judgeRecord(ipam, record('a', '10.0.0.2,fd00::2', { mac }))).toMatchObject([
      { rule: 'held-twice', address: '10.0.0.2', owners: ['pod/ns/a', 'router-port/s'] },
    ])
  })
})

describe('auditRecords', () => {
  it('finds nothing where everything is written down, and otherwise what nobody will release', () => {
    const ipam = restored()
    expect(auditRecords(ipam, records)).toEqual([])
    ipam.allocate({ subnet: 's', nic: 'm', owner: 'pod/ns/m', mac: parseMac('00:00:5e:00:53:02'), family: 4 })
    expect(auditRecords(ipam, records)).toEqual([
      { rule: 'unrecorded', subnet: 's', nic: 'm', address: '10.0.0.5', owners: ['pod/ns/m'] },
    ])
  })
})
