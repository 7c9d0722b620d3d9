import type { AddressInfo, Route } from '@kube-ovn/netlink'
import { describe, expect, it } from 'vitest'
import { planAddresses, planRoutes } from './plan.ts'

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

function route(destination: string, more: Partial<Route> = {}): Route {
  const isV6 = destination.includes(':')
  return {
    destination,
    family: isV6 ? 'ipv6' : 'ipv4',
    index: 7,
    scope: 0,
    protocol: 4,
    metric: isV6 ? 1024 : 0,
    table: 254,
    type: 'unicast',
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

describe('planRoutes', () => {
  const wanted = [{ destination: '10.16.0.0/16', gateway: '100.64.0.1', source: '192.0.2.10', protocol: 4 }]
  const present = route('10.16.0.0/16', { gateway: '100.64.0.1', source: '192.0.2.10' })

  it('does nothing when the route is there', () => {
    expect(planRoutes(7, wanted, [present])).toEqual({ replace: [], remove: [], occupied: [] })
  })

  it('writes a route that is missing or has another gateway', () => {
    expect(planRoutes(7, wanted, []).replace).toEqual([{ ...wanted[0], index: 7 }])
    expect(planRoutes(7, wanted, [{ ...present, gateway: '100.64.0.9' }]).replace).toHaveLength(1)
  })

  it('removes a static route of ours that is not wanted any more', () => {
    expect(planRoutes(7, [], [present]).remove).toEqual([present])
  })

  it('leaves routes of others: other protocols, on-link ones, other devices, other tables', () => {
    const foreign = [
      route('10.17.0.0/16', { gateway: '100.64.0.1', protocol: 3 }),
      route('10.18.0.0/16'),
      route('10.19.0.0/16', { gateway: '192.0.2.1', index: 2 }),
      route('10.20.0.0/16', { gateway: '100.64.0.1', table: 100 }),
    ]
    expect(planRoutes(7, [], foreign).remove).toEqual([])
  })

  it('does not take the place of a route of another device', () => {
    const other = route('10.16.0.0/16', { index: 2, gateway: '192.0.2.1' })
    expect(planRoutes(7, wanted, [other])).toEqual({ replace: [], remove: [], occupied: wanted })
  })

  it('adds beside a route of another device with another metric', () => {
    const other = route('10.16.0.0/16', { index: 2, gateway: '192.0.2.1', metric: 100 })
    expect(planRoutes(7, wanted, [other]).replace).toHaveLength(1)
  })
})
