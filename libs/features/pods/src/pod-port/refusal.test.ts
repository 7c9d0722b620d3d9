import { parseIp } from '@kube-ovn/ip'
import {
  AddressConflictError,
  AddressOutOfRangeError,
  InvalidIpFamilyError,
  MacConflictError,
  NoAvailableAddressError,
} from '@kube-ovn/ipam'
import { formatIp } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { PodSubnetUnavailableError } from '@kube-ovn/domains-control/pods'
import { refusalText } from './refusal.ts'

const address = formatIp(parseIp('10.16.0.5'))

describe('refusalText', () => {
  it.each([
    [
      'an address of another prefix',
      new AddressOutOfRangeError({ subnet: 's', address, cidr: '10.18.0.0/16' }),
      /field=ovn\.kubernetes\.io\/ip_address .*address=10\.16\.0\.5.*; choose an address of 10\.18\.0\.0\/16/,
    ],
    [
      'an address that is held',
      new AddressConflictError({ subnet: 's', conflict: 'held', address, holders: ['pod/shop/a', 'vip/b'] }),
      /field=ovn\.kubernetes\.io\/ip_address .*holders=pod\/shop\/a\+vip\/b\); choose another address/,
    ],
    [
      'a MAC address that is held',
      new MacConflictError({ subnet: 's', mac: '00:00:5e:00:53:01', holders: ['pod/shop/a'] }),
      /field=ovn\.kubernetes\.io\/mac_address .*mac=00:00:5e:00:53:01/,
    ],
    [
      'a family that the subnet does not have',
      new InvalidIpFamilyError({ subnet: 's', requested: 6, offered: [4] }),
      /^InvalidIPFamily: requested ip family IPv6 does not match subnet s protocol IPv4 .*; ask for IPv4$/,
    ],
    [
      'a subnet that is not there',
      new PodSubnetUnavailableError({ subnet: 's', cure: 'create it' }),
      /field=ovn\.kubernetes\.io\/logical_switch subnet=s\); create it/,
    ],
  ])('names the annotation, the value and the cure for %s', (_name, error, text) => {
    expect(refusalText(error)).toMatch(text)
  })

  it('names no annotation when nothing was asked for', () => {
    const full = refusalText(new NoAvailableAddressError({ subnet: 's', pool: '', family: 4 }))
    expect(full).not.toContain('field=')
    expect(full).toContain('subnet=s')
  })
})
