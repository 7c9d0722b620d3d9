import type { Route } from '@kube-ovn/netlink'
import { describe, expect, it } from 'vitest'
import { planRoutes } from './route-plan.ts'

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
    const occupied = [{ destination: '10.16.0.0/16', by: [2] }]
    expect(planRoutes(7, wanted, [other])).toEqual({ replace: [], remove: [], occupied })
  })

  it('adds beside a route of another device with another metric', () => {
    const other = route('10.16.0.0/16', { index: 2, gateway: '192.0.2.1', metric: 100 })
    expect(planRoutes(7, wanted, [other]).replace).toHaveLength(1)
  })
})
