import { describe, expect, it } from 'vitest'
import { renderRouterFiles } from './router-configuration.ts'
import { defaultTopology, type Topology } from './topology.ts'

const blocks = { own: 0, tunnel: 0 }
const topology: Topology = { ...defaultTopology, routers: ['frr', 'bird', 'frr'] }

describe('renderRouterFiles', () => {
  it('lets anybody on the physical network peer over either family', () => {
    expect(renderRouterFiles(topology, blocks, 0)['bgpd.conf']).toBe(
      [
        'router bgp 65001',
        ' bgp router-id 10.172.3.253',
        ' no bgp ebgp-requires-policy',
        ' no bgp default ipv4-unicast',
        ' no bgp network import-check',
        ' neighbor ipv4 peer-group',
        ' neighbor ipv4 remote-as external',
        ' bgp listen range 10.172.3.0/24 peer-group ipv4',
        ' neighbor ipv6 peer-group',
        ' neighbor ipv6 remote-as external',
        ' bgp listen range fd00:172:30:3::/64 peer-group ipv6',
        ' address-family ipv4 unicast',
        '  network 10.127.1.0/24',
        '  neighbor ipv4 activate',
        ' exit-address-family',
        ' address-family ipv6 unicast',
        '  network fd00:10:127:1::/64',
        '  neighbor ipv6 activate',
        ' exit-address-family',
        '',
      ].join('\n'),
    )
  })

  it('calls the routers before it, so that each pair has one session for each family', () => {
    const bird = renderRouterFiles(topology, blocks, 1)['bird.conf'] ?? ''
    expect(bird.match(/neighbor \S+ external/g)).toEqual([
      'neighbor 10.172.3.253 external',
      'neighbor fd00:172:30:3::fd external',
    ])
    const frr = renderRouterFiles(topology, blocks, 2)['bgpd.conf'] ?? ''
    expect(frr.match(/neighbor [\d.]+ remote-as external/g)).toEqual([
      'neighbor 10.172.3.253 remote-as external',
      'neighbor 10.172.3.252 remote-as external',
    ])
  })

  it('starts the daemons of each kind', () => {
    expect(renderRouterFiles(topology, blocks, 0)['start']).toContain('/usr/lib/frr/bgpd')
    expect(renderRouterFiles(topology, blocks, 1)['start']).toContain('bird -f')
  })
})
