import { describe, expect, it } from 'vitest'
import {
  addressList,
  ipv4RouteList,
  ipv6RouteList,
  linkReply,
  neighbourList,
  proxyList,
  ruleList,
} from './__golden__/captures.ts'
import { parseAddress } from './address-message.ts'
import { parseLink } from './link-message.ts'
import { parseDatagram } from './message.ts'
import { parseNeighbour } from './neighbour-message.ts'
import { parseRoute } from './route-message.ts'
import { parseRule } from './rule-message.ts'

function bodies(datagrams: readonly Buffer[]): Buffer[] {
  return datagrams.flatMap((bytes) => parseDatagram(bytes, 7).messages.map(({ body }) => body))
}

describe('what the kernel sent is read', () => {
  it('as a link', () => {
    expect(bodies(linkReply).map(parseLink)).toEqual([
      {
        index: 2,
        name: 'veth0',
        kind: 'veth',
        hardwareType: 1,
        mtu: 1400,
        mac: '02:00:00:00:00:0a',
        flags: 0x1003,
        isUp: true,
        hasCarrier: false,
        operationalState: 'down',
        txQueueLength: 500,
        alias: 'shop/web',
        altNames: ['pod-nic'],
        linkIndex: 2,
        linkNetnsId: 0,
        statistics: {
          rxPackets: 0,
          txPackets: 0,
          rxBytes: 0,
          txBytes: 0,
          rxErrors: 0,
          txErrors: 0,
          rxDropped: 0,
          txDropped: 0,
        },
      },
    ])
  })

  it('as addresses', () => {
    expect(bodies(addressList).map(parseAddress)).toEqual([
      {
        family: 'ipv4',
        index: 2,
        cidr: '10.1.0.1/24',
        broadcast: '10.1.0.255',
        label: 'veth0',
        scope: 0,
        flags: 0x80,
        isTentative: false,
        isDuplicate: false,
        isPermanent: true,
      },
      {
        family: 'ipv6',
        index: 2,
        cidr: 'fd00::1/64',
        scope: 0,
        flags: 0x82,
        isTentative: false,
        isDuplicate: false,
        isPermanent: true,
      },
    ])
  })

  it('as IPv4 routes, also by several ways and by an IPv6 gateway', () => {
    const main = { family: 'ipv4', table: 254, type: 'unicast' }
    expect(bodies(ipv4RouteList).map(parseRoute)).toEqual([
      { ...main, destination: '0.0.0.0/0', gateway: 'fe80::1', index: 2, scope: 0, protocol: 3, metric: 0 },
      {
        ...main,
        destination: '10.1.0.0/24',
        index: 2,
        source: '10.1.0.1',
        scope: 253,
        protocol: 2,
        metric: 0,
      },
      {
        ...main,
        destination: '10.9.0.0/16',
        scope: 0,
        protocol: 186,
        metric: 7,
        mtu: 1300,
        nextHops: [
          { gateway: '10.1.0.2', index: 2, weight: 2 },
          { gateway: '10.1.0.3', index: 2, weight: 1, onlink: true },
        ],
      },
    ])
  })

  it('as an IPv6 route of a table beyond 255', () => {
    expect(bodies(ipv6RouteList).map(parseRoute)).toEqual([
      {
        family: 'ipv6',
        destination: '::/0',
        gateway: 'fe80::1',
        index: 2,
        source: 'fd00::1',
        type: 'unicast',
        scope: 0,
        protocol: 3,
        metric: 1024,
        table: 1000,
      },
    ])
  })

  it('as rules', () => {
    const [local, ours] = bodies(ruleList).map(parseRule)
    expect(local).toEqual({ family: 'ipv4', priority: 0, action: 'lookup', table: 255, protocol: 2 })
    expect(ours).toEqual({
      family: 'ipv4',
      priority: 100,
      not: true,
      from: '10.1.0.0/24',
      to: '10.2.0.0/16',
      inputInterface: 'veth0',
      mark: 0x10,
      markMask: 0xf0,
      action: 'lookup',
      table: 1000,
      protocol: 0,
    })
  })

  it('as neighbours and as proxies', () => {
    expect(bodies([...neighbourList, ...proxyList]).map(parseNeighbour)).toEqual([
      {
        family: 'ipv4',
        index: 2,
        address: '10.1.0.2',
        mac: '02:00:00:00:00:0b',
        state: 'permanent',
        isProxy: false,
      },
      { family: 'ipv6', index: 2, address: 'fd00::9', state: 'none', isProxy: true },
    ])
  })
})
