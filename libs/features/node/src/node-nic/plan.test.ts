import type { AddressInfo } from '@kube-ovn/netlink'
import { describe, expect, it } from 'vitest'
import { planAddresses } from './plan.ts'

function address(cidr: string, more: Partial<AddressInfo> = {}): AddressInfo {
  return {
    family: cidr.includes(':') ? 'ipv6' : 'ipv4',
    index: 7,
    cidr,
    scope: 0,
    flags: 0,
    isTentative: false,
    isDuplicate: false,
    isPermanent: true,
    ...more,
  }
}

describe('planAddresses', () => {
  it('does nothing when all is there', () => {
    const wanted = ['100.64.0.2/16', 'fe80::1/64']
    expect(
      planAddresses(
        wanted,
        wanted.map((cidr) => address(cidr)),
      ),
    ).toEqual({ add: [], remove: [] })
  })

  it('adds what is missing, removes what is not wanted, and leaves other link-local addresses', () => {
    const actual = [address('100.64.0.9/16'), address('fe80::9/64')]
    expect(planAddresses(['100.64.0.2/16'], actual)).toEqual({
      add: ['100.64.0.2/16'],
      remove: ['100.64.0.9/16'],
    })
  })

  it('adds anew what failed duplicate address detection', () => {
    expect(planAddresses(['fd00::2/64'], [address('fd00::2/64', { isDuplicate: true })]).add).toEqual([
      'fd00::2/64',
    ])
  })
})
