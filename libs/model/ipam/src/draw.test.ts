import { parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import {
  AddressConflictError,
  AddressOutOfRangeError,
  InvalidIpFamilyError,
  NicConflictError,
  NoAvailableAddressError,
} from './index.ts'
import { ask, free, ips, ipamWith, setSubnet, text } from './testing/asking.ts'

describe('Ipam.allocate, drawing', () => {
  it('takes the lowest address and comes back to released ones last', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    expect(['a', 'b', 'c'].map((nic) => ask(ipam, nic))).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4'])
    free(ipam, 'b')
    free(ipam, 'a')
    expect(['d', 'e', 'f', 'g'].map((nic) => ask(ipam, nic))).toEqual([
      '10.0.0.5',
      '10.0.0.6',
      '10.0.0.2',
      '10.0.0.3',
    ])
    expect(() => ask(ipam, 'h')).toThrow(NoAvailableAddressError)
  })

  it('keeps taking turns after all addresses have been used once', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1', ['10.0.0.5..10.0.0.6'])
    const turns = Array.from({ length: 7 }, () => {
      const address = ask(ipam, 'a')
      free(ipam, 'a')
      return address
    })
    expect(turns.map((address) => Number(address.slice(-1)))).toEqual([2, 3, 4, 2, 3, 4, 2])
  })

  it('answers the same for the same NIC', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const request = { subnet: 's', nic: 'a', owner: 'pod/ns/a' } as const
    expect(ipam.allocate(request)).toEqual(ipam.allocate(request))
    expect(ipam.statistics('s').v4?.using).toBe(1n)
  })

  it('never draws what is to be skipped, and exchanges what is held', () => {
    const ipam = ipamWith('10.0.0.0/29,fd00::/125', '10.0.0.1,fd00::1')
    const before = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o' })
    const after = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o', skip: ips('10.0.0.2', '10.0.0.3') })
    expect(text(after)).toBe('10.0.0.4,fd00::2')
    expect(after.mac).toBe(before.mac)
    const all = ips('10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6')
    expect(() => ask(ipam, 'b', { skip: all })).toThrow(AddressConflictError)
  })

  it('falls back to released addresses when all free ones are to be skipped', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    ask(ipam, 'a')
    free(ipam, 'a')
    const lower = ips('10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6')
    expect(ask(ipam, 'b', { skip: lower })).toBe('10.0.0.2')
    expect(ask(ipam, 'c')).toBe('10.0.0.3')
  })

  it('takes only the family asked for', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    expect(ask(ipam, 'a', { family: 6 })).toBe('fd00::2')
    expect(ask(ipam, 'b')).toBe('10.0.0.2,fd00::3')
    expect(ask(ipam, 'a', { family: 6 })).toBe('fd00::2')
    setSubnet(ipam, '10.9.0.0/28', '10.9.0.1', [], 'single')
    expect(() => ask(ipam, 'c', { subnet: 'single', family: 6 })).toThrow(InvalidIpFamilyError)
  })

  it('takes neither family when one is exhausted', () => {
    const ipam = ipamWith('10.0.0.0/29,fd00::/126', '10.0.0.1,fd00::1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'b')).toThrow(NoAvailableAddressError)
    expect(ipam.lease('b')).toBeUndefined()
    expect(ask(ipam, 'c', { family: 4 })).toBe('10.0.0.3')
  })

  it('moves a NIC that asks in another subnet', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    setSubnet(ipam, '10.9.0.0/28', '10.9.0.1', [], 'other')
    ask(ipam, 'a')
    expect(ask(ipam, 'a', { subnet: 'other' })).toBe('10.9.0.2')
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual([])
    expect(ipam.leasesOf('pod/ns/a').map(text)).toEqual(['10.9.0.2'])
    expect(() => ask(ipam, 'a', { static: parseIpList('10.9.0.2') })).toThrow(AddressOutOfRangeError)
    expect(ipam.leasesOf('pod/ns/a').map(text)).toEqual(['10.9.0.2'])
  })

  it('keeps the NIC of another owner from being taken', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'a', { owner: 'pod/else' })).toThrow(NicConflictError)
    expect(ask(ipam, 'a', { owner: 'pod/else', shareOnConflict: true })).toBe('10.0.0.2')
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual(['pod/else'])
    expect(ipam.leasesOf('pod/ns/a')).toEqual([])
    expect(ipam.leasesOf('pod/else')).toHaveLength(1)
  })
})

describe('Ipam.release', () => {
  it('answers what was held, for a NIC and for an owner in one subnet or in all', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    setSubnet(ipam, '10.9.0.0/28', '10.9.0.1', [], 'other')
    ask(ipam, 'a', { owner: 'pod/o' })
    ask(ipam, 'b', { owner: 'pod/o' })
    ask(ipam, 'c', { owner: 'pod/o', subnet: 'other' })
    expect(free(ipam, 'unknown')).toBeUndefined()
    expect(text(free(ipam, 'a', 'pod/o') ?? expect.unreachable())).toBe('10.0.0.2')
    expect(ipam.releaseOwner('pod/o', 'other').map(text)).toEqual(['10.9.0.2'])
    expect(ipam.releaseOwner('pod/o').map(text)).toEqual(['10.0.0.3'])
    expect(ipam.releaseOwner('pod/o')).toEqual([])
  })
})
