import { describe, expect, it } from 'vitest'
import { desiredAttachment } from './desired.ts'
import type { AttachmentRequest, AttachmentSnapshot } from './snapshot.ts'

const request: AttachmentRequest = {
  podNamespace: 'shop',
  podName: 'web-0',
  podUid: 'uid-1',
  containerId: '0123456789abcdef',
  ifName: 'eth0',
  netns: '/var/run/netns/cni-1',
  provider: 'ovn',
  network: 'kube-ovn',
  routes: [],
}

const dual: AttachmentSnapshot = {
  request,
  holder: 'web-0',
  hostName: '0123456789ab_h',
  mac: '00:00:00:53:6b:b6',
  addresses: [
    { ip: '10.16.0.5', prefixLength: 16, gateway: '10.16.0.1' },
    { ip: 'fd00:10:16::5', prefixLength: 112, gateway: 'fd00:10:16::1' },
  ],
  mtu: 1400,
  hasUserspaceDatapath: true,
  ownsDefaultRoute: true,
  provider: 'ovn',
  routes: [],
}

describe('desiredAttachment', () => {
  it('describes the port, the link and the routes of a dual-stack pod', () => {
    expect(desiredAttachment(dual)).toEqual({
      hostName: '0123456789ab_h',
      ifName: 'eth0',
      netns: '/var/run/netns/cni-1',
      mac: '00:00:00:53:6b:b6',
      mtu: 1400,
      addresses: ['10.16.0.5/16', 'fd00:10:16::5/112'],
      routes: [
        { destination: '0.0.0.0/0', gateway: '10.16.0.1' },
        { destination: '::/0', gateway: 'fd00:10:16::1' },
      ],
      disablesTxChecksumOffload: true,
      sysctls: [],
      externalIds: {
        'iface-id': 'web-0.shop',
        vendor: 'kube-ovn',
        pod_name: 'web-0',
        pod_namespace: 'shop',
        pod_netns: '/var/run/netns/cni-1',
        ip: '10.16.0.5,fd00:10:16::5',
        pod_uid: 'uid-1',
        container_id: '0123456789abcdef',
        if_name: 'eth0',
        cni_network: 'kube-ovn',
      },
    })
  })

  it('is the port of the machine that runs in the pod', () => {
    expect(desiredAttachment({ ...dual, holder: 'vm' }).externalIds).toMatchObject({
      'iface-id': 'vm.shop',
      pod_name: 'vm',
      pod_uid: 'uid-1',
    })
  })

  it('has no default route on an interface that does not own it', () => {
    expect(desiredAttachment({ ...dual, ownsDefaultRoute: false }).routes).toEqual([])
  })

  it('lets the namespace of a pod that forwards do so, and packets come by another NIC than answers would take', () => {
    expect(desiredAttachment({ ...dual, forwards: true }).sysctls).toEqual([
      { key: 'ipv4/ip_forward', value: '1' },
      { key: 'ipv6/conf/all/forwarding', value: '1' },
      { key: 'ipv4/conf/all/rp_filter', value: '2' },
    ])
  })

  it('trusts a gateway outside the prefix to be on the link', () => {
    const addresses = [{ ip: '10.16.0.5', prefixLength: 32, gateway: '10.16.0.1' }]
    expect(desiredAttachment({ ...dual, addresses }).routes).toEqual([
      { destination: '0.0.0.0/0', gateway: '10.16.0.1', onlink: true },
    ])
  })

  it('adds the routes of the network configuration after the default routes and leaves out unreadable ones', () => {
    const routes = [
      { dst: '192.0.2.0/24', gw: '10.16.0.9' },
      { dst: '198.51.100.0/24', gw: '' },
      { dst: 'nonsense', gw: '10.16.0.9' },
      { dst: '203.0.113.0/24', gw: 'nonsense' },
    ]
    expect(desiredAttachment({ ...dual, request: { ...request, routes } }).routes.slice(2)).toEqual([
      { destination: '192.0.2.0/24', gateway: '10.16.0.9' },
      { destination: '198.51.100.0/24', scope: 253 },
    ])
  })

  it('adds what the Pod asks for last', () => {
    const routes = [
      { dst: '192.0.2.0/24', gw: '' },
      { dst: '2001:db8::/32', gw: 'fd00:10:16::9' },
    ]
    expect(desiredAttachment({ ...dual, routes }).routes.slice(2)).toEqual([
      { destination: '192.0.2.0/24', scope: 253 },
      { destination: '2001:db8::/32', gateway: 'fd00:10:16::9' },
    ])
  })

  it('is the port of its network', () => {
    const { externalIds } = desiredAttachment({ ...dual, provider: 'net.shop.ovn' })
    expect(externalIds['iface-id']).toBe('web-0.shop.net.shop.ovn')
  })

  it('has neither addresses nor an ip in the port for a pod that gets its addresses elsewhere', () => {
    const attachment = desiredAttachment({ ...dual, addresses: [] })
    expect([attachment.addresses, attachment.routes, 'ip' in attachment.externalIds]).toEqual([[], [], false])
  })
})
