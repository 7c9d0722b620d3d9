import { parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import {
  AddressConflictError,
  AddressOutOfRangeError,
  InvalidIpFamilyError,
  NoAvailableAddressError,
} from './index.ts'
import { ask, free, ipamWith, text } from './testing/asking.ts'

describe('Ipam.allocate, static', () => {
  it.each([
    ['the gateway', '10.0.0.1', AddressConflictError],
    ["another owner's address", '10.0.0.2', AddressConflictError],
    ['an address outside', '10.0.1.1', AddressOutOfRangeError],
    ['the network address', '10.0.0.0', AddressOutOfRangeError],
    ['the broadcast address', '10.0.0.15', AddressOutOfRangeError],
    ['another family', 'fd00::9', InvalidIpFamilyError],
  ])('refuses %s and leaves the lease as it was', (_, address, error) => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'other')
    const before = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/ns/a' })
    expect(() => ask(ipam, 'a', { static: parseIpList(address) })).toThrow(error)
    expect(ipam.lease('a')).toEqual(before)
  })

  it('names the holder and the cure in a conflict', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ask(ipam, 'a')
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.2') })).toThrow(
      expect.objectContaining({
        message: 'AddressConflict: the address is held by another owner',
        retry: 'on-change',
        details: {
          subnet: 's',
          conflict: 'held',
          address: '10.0.0.2',
          holders: ['pod/ns/a'],
          cure: expect.stringContaining('another address'),
        },
      }),
    )
  })

  it('draws the other family, and takes nothing if that fails', () => {
    const ipam = ipamWith('10.0.0.0/29,fd00::/126', '10.0.0.1,fd00::1')
    expect(ask(ipam, 'a', { static: parseIpList('10.0.0.5') })).toBe('10.0.0.5,fd00::2')
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.6') })).toThrow(NoAvailableAddressError)
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.6,fd00::2') })).toThrow(AddressConflictError)
    expect(ipam.holders('s', parseIp('10.0.0.6'))).toEqual([])
    expect(ask(ipam, 'b', { static: parseIpList('10.0.0.6'), family: 4 })).toBe('10.0.0.6')
    expect(() => ask(ipam, 'b', { static: parseIpList('10.0.0.6'), family: 6 })).toThrow(InvalidIpFamilyError)
  })

  it('replaces only the address that differs and keeps the MAC address', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    const before = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o' })
    const after = ipam.allocate({ subnet: 's', nic: 'a', owner: 'pod/o', static: parseIpList('10.0.0.9') })
    expect(after).toEqual({ ...before, v4: parseIp('10.0.0.9') })
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual([])
    expect(ipam.statistics('s').v4?.usingRanges).toBe('10.0.0.9')
  })

  it('gives excluded and released addresses', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1', ['10.0.0.7'])
    ask(ipam, 'a')
    free(ipam, 'a')
    expect(ask(ipam, 'b', { static: parseIpList('10.0.0.2') })).toBe('10.0.0.2')
    expect(ask(ipam, 'c', { static: parseIpList('10.0.0.7') })).toBe('10.0.0.7')
    free(ipam, 'c')
    expect(ipam.statistics('s').v4?.availableRanges).toBe('10.0.0.3-10.0.0.6,10.0.0.8-10.0.0.14')
  })

  it('shares an address until the last owner releases it', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const shared = { static: parseIpList('10.0.0.2'), shareOnConflict: true }
    ask(ipam, 'a')
    ask(ipam, 'b', shared)
    expect(ipam.holders('s', parseIp('10.0.0.2'))).toEqual(['pod/ns/a', 'pod/ns/b'])
    free(ipam, 'a')
    expect(ipam.lease('a')).toBeUndefined()
    expect(() => ask(ipam, 'c', { static: parseIpList('10.0.0.2') })).toThrow(AddressConflictError)
    free(ipam, 'b')
    expect(ask(ipam, 'c', { static: parseIpList('10.0.0.2') })).toBe('10.0.0.2')
  })

  it('keeps an address that two NICs of one owner have until both are gone', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    const mine = { owner: 'pod/o' as const, static: parseIpList('10.0.0.5') }
    ask(ipam, 'a', mine)
    ask(ipam, 'b', mine)
    free(ipam, 'a', 'pod/o')
    expect(ipam.holders('s', parseIp('10.0.0.5'))).toEqual(['pod/o'])
    expect(ipam.releaseOwner('pod/o').map(text)).toEqual(['10.0.0.5'])
    expect(ipam.holders('s', parseIp('10.0.0.5'))).toEqual([])
  })
})
