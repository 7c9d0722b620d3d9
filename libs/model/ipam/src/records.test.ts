import { AddressList, formatIpList, parseCidrList, parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import {
  chooseFromList,
  entryOfMember,
  Ipam,
  isMachineKept,
  isMemberKept,
  restoreRecords,
  type AddressRecord,
} from './index.ts'

function ipamWith(cidr: string, gateway: string): Ipam {
  const ipam = new Ipam((bytes) => Uint8Array.from({ length: bytes }, (_, index) => (index * 37) % 251))
  ipam.setSubnet({ name: 's', cidrs: parseCidrList(cidr), gateways: parseIpList(gateway), excludeIps: [] })
  return ipam
}

function record(name: string, addresses: string, more: Partial<AddressRecord> = {}): AddressRecord {
  return {
    subnet: 's',
    nic: name,
    owner: `pod/ns/${name}`,
    addresses: parseIpList(addresses),
    mac: false,
    ...more,
  }
}

describe('restoreRecords', () => {
  it('gives a disputed address to the pod that runs, and names both owners', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const waiting = record('waiting', '10.0.0.5')
    const gone = record('gone', '10.0.0.6', { isOver: true })
    const records = [
      waiting,
      gone,
      record('next', '10.0.0.6', { owner: 'vip/next' }),
      record('running', '10.0.0.5', { isRunning: true }),
    ]
    expect(restoreRecords(ipam, records)).toMatchObject([
      {
        record: waiting,
        holders: ['pod/ns/running'],
        lease: undefined,
        error: { code: 'ipam-address-conflict' },
      },
      { record: gone, holders: ['vip/next'], lease: undefined },
    ])
  })

  it('keeps the address of the other family for the one that lost, so that nobody else gets it', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    const loser = record('b', '10.0.0.2,fd00::2')
    const conflicts = restoreRecords(ipam, [record('a', '10.0.0.2'), loser])
    expect(conflicts).toMatchObject([{ record: loser, lease: { v4: undefined, v6: parseIp('fd00::2') } }])
    expect(ipam.holders('s', parseIp('fd00::2'))).toEqual(['pod/ns/b'])
    expect(ipam.lease('a')?.v6).toBeUndefined()
  })

  it('keeps the addresses of two that were given one MAC address, and tells', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const mac = '00:00:5e:00:53:01'
    const conflicts = restoreRecords(ipam, [
      record('a', '10.0.0.2', { mac }),
      record('b', '10.0.0.3', { mac }),
    ])
    expect(conflicts).toMatchObject([
      { holders: ['pod/ns/a'], error: { code: 'ipam-mac-conflict' }, lease: { mac } },
    ])
    expect(ipam.holders('s', parseIp('10.0.0.3'))).toEqual(['pod/ns/b'])
    expect(ipam.verify()).toEqual([])
  })

  it('completes a NIC from a later record, and draws nothing for one without addresses', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    const records = [
      record('a', '10.0.0.2'),
      record('a', '10.0.0.9,fd00::2'),
      { ...record('b', '10.0.0.3'), addresses: {} },
    ]
    expect(restoreRecords(ipam, records)).toEqual([])
    expect(ipam.lease('a')).toMatchObject(parseIpList('10.0.0.2,fd00::2'))
    expect(ipam.lease('b')).toBeUndefined()
  })
})

function listOf(...texts: readonly string[]): AddressList {
  return new AddressList(texts.map((text) => ({ first: parseIpList(text), count: 1 })))
}

describe('chooseFromList', () => {
  const entries = listOf('10.0.0.5', '10.0.0.7')

  it('takes the first entry that is to be had, keeps it, and names the holder when none is left', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const ask = (name: string, shareOnConflict = false) => {
      const wishes = { subnet: 's', nic: name, owner: `pod/ns/${name}` as const, shareOnConflict }
      return ipam.allocate(chooseFromList(ipam, wishes, entries).request).v4
    }
    expect([ask('a'), ask('b'), ask('b')].map(Number)).toEqual([
      parseIp('10.0.0.5'),
      parseIp('10.0.0.7'),
      parseIp('10.0.0.7'),
    ])
    expect(() => ask('c', true)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ holders: ['pod/ns/b'] }) }),
    )
    ipam.release('a', 'pod/ns/a')
    expect([ask('b'), ask('c')].map(Number)).toEqual([parseIp('10.0.0.7'), parseIp('10.0.0.5')])
    expect(() => chooseFromList(ipam, { subnet: 's', nic: 'd', owner: 'pod/ns/d' }, listOf())).toThrow(
      'NoAvailableAddress',
    )
  })
})

describe('members of a StatefulSet', () => {
  it.each([
    ['db-1', 0, '10.0.0.6'],
    ['db-3', 0, undefined],
    ['db', 0, '10.0.0.5'],
    ['db-1', 1, '10.0.0.6'],
    ['db-12', 10, '10.0.0.7'],
  ])('%s of a set that starts at %d has entry %s', (name, start, text) => {
    const entry = entryOfMember(listOf('10.0.0.5', '10.0.0.6', '10.0.0.7'), name, start)
    expect(entry && formatIpList(entry)).toBe(text)
  })

  const set = { uid: 'u1', isDeleting: false, start: 10, replicas: 2 }

  it.each([
    ['while the set will make it again', 'db-11', set, true],
    ['not once the set is smaller', 'db-12', set, false],
    ['if it is the first one of the set', 'db-10', set, true],
    ['not once the set starts after it', 'db-9', set, false],
    ['not when the set is gone', 'db-11', undefined, false],
    ['not when the set is being deleted', 'db-11', { ...set, isDeleting: true }, false],
    ['not when it is another set of that name', 'db-11', { ...set, uid: 'u2' }, false],
  ])('keep their addresses %s', (_, name, facts, isKept) => {
    expect(isMemberKept(name, 'u1', facts)).toBe(isKept)
  })
})

describe('machines', () => {
  const alive = { isAlive: true, isDeleting: false }

  it.each([
    ['while they are stopped', { machine: { isDeleting: false } }, true],
    ['while they move', { instance: alive, machine: { isDeleting: false } }, true],
    [
      'until the last instance of a deleted one has ended',
      { instance: alive, machine: { isDeleting: true } },
      true,
    ],
    ['not when they are deleted', { machine: { isDeleting: true } }, false],
    ['while one without a machine runs', { instance: alive }, true],
    ['not when one without a machine is deleted', { instance: { ...alive, isDeleting: true } }, false],
    ['not when there is nothing', {}, false],
  ])('keep their addresses %s', (_, facts, isKept) => {
    expect(isMachineKept(facts)).toBe(isKept)
  })
})
