import { parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { AddressOutOfRangeError, NicConflictError, NoAvailableAddressError } from './index.ts'
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

  it('says so when all that is left is to be skipped', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    ask(ipam, 'a')
    free(ipam, 'a')
    const all = ips('10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6')
    expect(() => ask(ipam, 'b', { skip: all })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ conflict: 'avoided', holders: [] }) }),
    )
  })

  it('falls back to released addresses when all free ones are to be skipped', () => {
    const ipam = ipamWith('10.0.0.0/29', '10.0.0.1')
    ask(ipam, 'a')
    free(ipam, 'a')
    const lower = ips('10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6')
    expect(ask(ipam, 'b', { skip: lower })).toBe('10.0.0.2')
    expect(ask(ipam, 'c')).toBe('10.0.0.3')
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
