import { overlaps, parseCidr } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import {
  addressesOf,
  labRanges,
  maxBlocks,
  nodeHost,
  ofStack,
  outsideHost,
  subnetsOf,
  vlanAddresses,
  type Blocks,
  type NetworkName,
} from './topology.ts'

const networks: readonly NetworkName[] = ['kubernetes', 'tunnel', 'physical']

/** The blocks of a lab that sees no other. */
function own(block: number): Blocks {
  return { own: block, tunnel: block }
}

describe('the addresses of labs', () => {
  it('gives every network of every block subnets of its own', () => {
    const subnets = Array.from({ length: maxBlocks }, (_, block) =>
      networks.flatMap((network) => Object.values(subnetsOf(own(block), network))),
    ).flat()
    expect(new Set(subnets).size).toBe(maxBlocks * networks.length * 2)
    expect(subnets.every((subnet) => !/\.(2[5][6-9]|[3-9]\d\d)\./.test(subnet))).toBe(true)
  })

  // A network without a subnet of its own takes a whole /16 of these, on any machine where somebody has made a dozen before.
  it.each(['172.16.0.0/12', '192.168.0.0/16'])('has none of %s, which the engine gives away', (pool) => {
    expect(overlaps(parseCidr(labRanges.ipv4), parseCidr(pool))).toBe(false)
  })

  it('has room for 200 nodes beside the outside host', () => {
    expect(nodeHost({}, 199)).toBeLessThan(outsideHost)
    expect(addressesOf(own(1), 'tunnel', nodeHost({}, 0))).toEqual({
      ipv4: '10.172.6.10',
      ipv6: 'fd00:172:30:6::a',
    })
  })

  it('puts nodes of labs that see each other beside each other in the tunnel network only', () => {
    const seeing = { own: 4, tunnel: 1 }
    expect(addressesOf(seeing, 'tunnel', nodeHost({ sees: 'lab' }, 0))).toEqual({
      ipv4: '10.172.6.130',
      ipv6: 'fd00:172:30:6::82',
    })
    expect(subnetsOf(seeing, 'physical').ipv4).toBe('10.172.19.0/24')
  })

  it('gives every VLAN subnets of its own', () => {
    const vlans = Array.from({ length: 4094 }, (_, index) => vlanAddresses(index + 1, 1))
    expect(new Set(vlans.flatMap((pair) => Object.values(pair))).size).toBe(4094 * 2)
    expect(vlans.at(-1)).toEqual({ ipv4: '10.143.254.1', ipv6: 'fd00:10:128:4094::1' })
  })
})

describe('ofStack', () => {
  it('puts IPv4 first', () => {
    const pair = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' }
    expect(ofStack('dual', pair)).toEqual(['192.0.2.1', '2001:db8::1'])
    expect(ofStack('ipv6', pair)).toEqual(['2001:db8::1'])
  })
})
