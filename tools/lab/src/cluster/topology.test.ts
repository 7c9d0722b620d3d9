import { describe, expect, it } from 'vitest'
import {
  addressesOf,
  maxBlocks,
  nodeHost,
  ofStack,
  outsideHost,
  subnetsOf,
  type NetworkName,
} from './topology.ts'

const networks: readonly NetworkName[] = ['kubernetes', 'tunnel', 'physical']

describe('the addresses of labs', () => {
  it('gives every network of every block subnets of its own', () => {
    const subnets = Array.from({ length: maxBlocks }, (_, block) =>
      networks.flatMap((network) => Object.values(subnetsOf(block, network))),
    ).flat()
    expect(new Set(subnets).size).toBe(maxBlocks * networks.length * 2)
    expect(subnets.every((subnet) => !/\.(2[5][6-9]|[3-9]\d\d)\./.test(subnet))).toBe(true)
  })

  it('has room for 200 nodes beside the outside host', () => {
    expect(nodeHost(199)).toBeLessThan(outsideHost)
    expect(addressesOf(1, 'tunnel', nodeHost(0))).toEqual({ ipv4: '172.30.6.10', ipv6: 'fd00:172:30:6::a' })
  })
})

describe('ofStack', () => {
  it('puts IPv4 first', () => {
    const pair = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' }
    expect(ofStack('dual', pair)).toEqual(['192.0.2.1', '2001:db8::1'])
    expect(ofStack('ipv6', pair)).toEqual(['2001:db8::1'])
  })
})
