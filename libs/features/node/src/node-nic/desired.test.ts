import { describe, expect, it } from 'vitest'
import { desiredNodeNic, linkLocalAddress } from './desired.ts'
import type { NodeNicSnapshot } from './snapshot.ts'

const dual: NodeNicSnapshot = {
  network: {
    portName: 'node-worker1',
    mac: '00:00:00:ab:cd:ef',
    addresses: ['100.64.0.2/16', 'fd00:100:64::2/112'],
    gateways: ['100.64.0.1', 'fd00:100:64::1'],
  },
  mtu: 1400,
  hasUserspaceDatapath: true,
  internalAddresses: ['192.0.2.10', '2001:db8::10'],
  subnets: ['10.16.0.0/16', 'fd00:10:16::/112'],
}

describe('desiredNodeNic', () => {
  it('wants an internal port bound to the node’s logical port', () => {
    expect(desiredNodeNic(dual).row).toEqual({
      type: 'internal',
      mac: '00:00:00:ab:cd:ef',
      mtu_request: 1400,
      external_ids: { vendor: 'kube-ovn', 'iface-id': 'node-worker1', ip: '100.64.0.2,fd00:100:64::2' },
    })
  })

  it('wants both addresses and the link-local one of the MAC', () => {
    expect(desiredNodeNic(dual).link).toEqual({
      mac: '00:00:00:ab:cd:ef',
      txQueueLength: 1000,
      addresses: ['100.64.0.2/16', 'fd00:100:64::2/112', 'fe80::200:ff:feab:cdef/64'],
      disablesTxChecksumOffload: true,
    })
  })

  it('routes the join network on the link and subnets by the join gateway with the node’s address as source', () => {
    expect(desiredNodeNic(dual).routes).toEqual([
      { destination: '100.64.0.0/16', source: '100.64.0.2', scope: 253, protocol: 2 },
      { destination: 'fd00:100:64::/112', protocol: 2, metric: 256 },
      { destination: '10.16.0.0/16', gateway: '100.64.0.1', source: '192.0.2.10', protocol: 4 },
      { destination: 'fd00:10:16::/112', gateway: 'fd00:100:64::1', source: '2001:db8::10', protocol: 4 },
    ])
  })

  it('leaves out a subnet that contains an address of the node, and families without a gateway', () => {
    const network = { ...dual.network, addresses: ['100.64.0.2/16'], gateways: ['100.64.0.1'] }
    const routes = desiredNodeNic({ ...dual, network, subnets: [...dual.subnets, '192.0.2.0/24'] }).routes
    expect(routes.map((route) => route.destination)).toEqual(['100.64.0.0/16', '10.16.0.0/16'])
  })

  it('has no IPv6 address at all on an IPv4 cluster', () => {
    const network = { ...dual.network, addresses: ['100.64.0.2/16'] }
    expect(desiredNodeNic({ ...dual, network }).link.addresses).toEqual(['100.64.0.2/16'])
  })
})

describe('linkLocalAddress', () => {
  it.each([
    ['00:00:00:ab:cd:ef', 'fe80::200:ff:feab:cdef/64'],
    ['52:54:00:12:34:56', 'fe80::5054:ff:fe12:3456/64'],
    ['02:00:00:00:00:01', 'fe80::ff:fe00:1/64'],
  ])('of %s is %s', (mac, want) => {
    expect(linkLocalAddress(mac)).toBe(want)
  })
})
