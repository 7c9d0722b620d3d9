import { parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { AddressOutOfRangeError, NoAvailableAddressError, NoSubnetError, PoolConflictError } from './index.ts'
import { ask, free, ipamWith, setSubnet } from './testing/asking.ts'

describe('Ipam pools', () => {
  it('are drawn from by name only, and the rest of the subnet without', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.3', 'fd00::2', '10.0.0.8/29', '192.168.0.1'])
    expect(ask(ipam, 'a')).toBe('10.0.0.4,fd00::3')
    expect(ask(ipam, 'b', { pool: 'p' })).toBe('10.0.0.2,fd00::2')
    expect(() => ask(ipam, 'c', { pool: 'p' })).toThrow(NoAvailableAddressError)
    expect(() => ask(ipam, 'c', { pool: 'q' })).toThrow(NoAvailableAddressError)
    expect(ipam.poolStatistics('s', 'p').v4).toEqual({
      available: 8n,
      using: 1n,
      availableRanges: '10.0.0.3,10.0.0.8-10.0.0.14',
      usingRanges: '10.0.0.2',
    })
    expect(ipam.poolStatistics('s', '').v4?.availableRanges).toBe('10.0.0.5-10.0.0.7')
    expect(ipam.poolStatistics('s', 'q').v4).toBeUndefined()
    expect(() => ask(ipam, 'c', { static: parseIpList('192.168.0.1') })).toThrow(AddressOutOfRangeError)
    expect(() => ask(ipam, 'c', { static: parseIpList('10.0.0.15') })).toThrow(AddressOutOfRangeError)
  })

  it('refuse addresses of a sibling in one family, no name and unknown subnets, and change nothing', () => {
    const ipam = ipamWith('10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.5', 'fd00::5'])
    expect(() => ipam.setPool('s', 'q', ['10.0.0.6', 'fd00::4..fd00::6'])).toThrow(PoolConflictError)
    expect(() => ipam.setPool('t', 'q', ['10.0.0.9'])).toThrow(NoSubnetError)
    expect(() => ipam.setPool('s', '', ['10.0.0.9'])).toThrow(RangeError)
    expect(ipam.hasPool('s', 'q')).toBe(false)
    expect(ipam.poolStatistics('s', '').v4?.availableRanges).toBe('10.0.0.6-10.0.0.14')
  })

  it('have addresses of a family that their subnet gains', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ipam.setPool('s', 'p', ['10.0.0.5', 'fd00::5'])
    setSubnet(ipam, '10.0.0.0/28,fd00::/124', '10.0.0.1,fd00::1')
    expect(ask(ipam, 'a', { pool: 'p' })).toBe('10.0.0.5,fd00::5')
  })

  it('change and go, giving their addresses back', () => {
    const ipam = ipamWith('10.0.0.0/28', '10.0.0.1')
    ipam.setPool('s', 'p', ['10.0.0.2..10.0.0.5'])
    ask(ipam, 'a', { pool: 'p' })
    ipam.setPool('s', 'p', ['10.0.0.4..10.0.0.8'])
    expect(ask(ipam, 'b')).toBe('10.0.0.3')
    ipam.removePool('s', 'p')
    ipam.removePool('s', 'p')
    ipam.removePool('unknown', 'p')
    expect(ipam.poolStatistics('s', '').v4).toMatchObject({
      using: 2n,
      availableRanges: '10.0.0.4-10.0.0.14',
    })
    free(ipam, 'a')
    expect(ask(ipam, 'c')).toBe('10.0.0.4')
  })
})
