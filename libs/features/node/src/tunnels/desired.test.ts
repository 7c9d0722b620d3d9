import { expect, it } from 'vitest'
import { TunnelAddressNotFoundError, TunnelNicNotFoundError } from '../errors.ts'
import { desiredTunnel } from './desired.ts'
import type { TunnelLink, TunnelSnapshot } from './snapshot.ts'

function link(name: string, addresses: readonly string[], more: Partial<TunnelLink> = {}): TunnelLink {
  return { name, mtu: 1500, addresses, preferredSources: [], ...more }
}

const links = [
  link('lo', ['127.0.0.1/8', '::1/128']),
  link('eth0', ['192.0.2.10/24', '2001:db8::10/64', 'fe80::1/64']),
  link('eth1', ['fe80::2/64', '198.51.100.10/24', '2001:db8:1::10/64'], { mtu: 9000 }),
]

interface Given {
  readonly settings?: Partial<TunnelSnapshot['settings']>
  readonly node?: Partial<TunnelSnapshot['node']>
  readonly links?: readonly TunnelLink[]
}

function snapshot({ settings, node, links: given }: Given): TunnelSnapshot {
  return {
    settings: {
      networkType: 'geneve',
      mtu: 0,
      iface: '',
      dpdkTunnelIface: 'br-phy',
      acceptsHostMasks: false,
      hasEncapChecksum: true,
      podIp: '192.0.2.10',
      ...settings,
    },
    node: {
      hasUserspaceDatapath: false,
      tunnelInterface: '',
      networks: new Map(),
      internalAddresses: ['192.0.2.10', '2001:db8::10'],
      ...node,
    },
    links: given ?? links,
  }
}

const cases: readonly {
  name: string
  given: Given
  want: readonly [link: string, address: string, mtu: number]
}[] = [
  {
    name: 'the link that owns POD_IP is taken when nothing is asked for',
    given: {},
    want: ['eth0', '192.0.2.10', 1400],
  },
  {
    name: 'an InternalIP stands in for a missing POD_IP, IPv4 first',
    given: { settings: { podIp: '' } },
    want: ['eth0', '192.0.2.10', 1400],
  },
  {
    name: 'an IPv6 end costs 20 bytes more',
    given: { settings: { podIp: '2001:db8::10' } },
    want: ['eth0', '2001:db8::10', 1380],
  },
  {
    name: '--iface names a link, link-local addresses are passed over',
    given: { settings: { iface: 'eth1' } },
    want: ['eth1', '198.51.100.10', 8900],
  },
  {
    name: '--iface may be a list of regular expressions',
    given: { settings: { iface: 'bond.*,th1$' } },
    want: ['eth1', '198.51.100.10', 8900],
  },
  {
    name: 'an expression that is no regular expression is passed over',
    given: { settings: { iface: '(,eth1' } },
    want: ['eth1', '198.51.100.10', 8900],
  },
  {
    name: 'the annotation of the Node beats --iface',
    given: { settings: { iface: 'eth0' }, node: { tunnelInterface: 'eth1' } },
    want: ['eth1', '198.51.100.10', 8900],
  },
  {
    name: 'a node with the userspace data path label uses --dpdk-tunnel-iface',
    given: {
      node: { hasUserspaceDatapath: true, tunnelInterface: 'eth1' },
      links: [...links, link('br-phy', ['203.0.113.1/24'])],
    },
    want: ['br-phy', '203.0.113.1', 1400],
  },
  {
    name: 'a link that is a port of our bridge is replaced by the bridge',
    given: {
      settings: { iface: 'eth2' },
      links: [link('eth2', [], { bridge: 'br-provider' }), link('br-provider', ['203.0.113.2/24'])],
    },
    want: ['br-provider', '203.0.113.2', 1400],
  },
  {
    name: 'only preferred sources of on-link routes are taken',
    given: {
      settings: { iface: 'eth3' },
      links: [link('eth3', ['203.0.113.3/24', '203.0.113.4/24'], { preferredSources: ['203.0.113.4'] })],
    },
    want: ['eth3', '203.0.113.4', 1400],
  },
  {
    name: 'a host mask is accepted with --host-tunnel-src',
    given: { settings: { iface: 'lo1', acceptsHostMasks: true }, links: [link('lo1', ['203.0.113.5/32'])] },
    want: ['lo1', '203.0.113.5', 1400],
  },
  {
    name: 'vxlan takes 50 bytes',
    given: { settings: { networkType: 'vxlan' } },
    want: ['eth0', '192.0.2.10', 1450],
  },
  {
    name: 'stt takes 72 bytes',
    given: { settings: { networkType: 'stt' } },
    want: ['eth0', '192.0.2.10', 1428],
  },
  { name: '--mtu is taken as it is', given: { settings: { mtu: 1300 } }, want: ['eth0', '192.0.2.10', 1300] },
]

it.each(cases)('$name', ({ given, want }) => {
  const tunnel = desiredTunnel(snapshot(given))
  expect([tunnel.linkName, tunnel.address, tunnel.mtu]).toEqual(want)
})

it('lists the addresses of further networks after the default one, sorted and without repetition', () => {
  const networks = new Map([
    ['storage', '198.51.100.20'],
    ['backup', '198.51.100.10'],
    ['same', '192.0.2.10'],
    ['again', '198.51.100.10'],
  ])
  expect(
    desiredTunnel(snapshot({ node: { networks }, settings: { hasEncapChecksum: false } })).externalIds,
  ).toEqual({
    'ovn-encap-ip': '192.0.2.10,198.51.100.10,198.51.100.20',
    'ovn-encap-ip-default': '192.0.2.10',
    'ovn-encap-csum': 'false',
  })
})

it('names the field and the value when no link fits', () => {
  expect(() => desiredTunnel(snapshot({ settings: { iface: 'ens9' } }))).toThrow(TunnelNicNotFoundError)
  expect(() => desiredTunnel(snapshot({ settings: { podIp: '203.0.113.99' } }))).toThrow(
    TunnelNicNotFoundError,
  )
})

it('refuses a link whose only address has a host mask', () => {
  const given = { settings: { iface: 'lo1' }, links: [link('lo1', ['203.0.113.5/32'])] }
  expect(() => desiredTunnel(snapshot(given))).toThrow(TunnelAddressNotFoundError)
})
