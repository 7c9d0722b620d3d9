import { InvalidCidrError, InvalidMacError } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { encodeAddressRequest } from './address-message.ts'
import { InvalidNetlinkValueError } from './errors.ts'
import { encodeLinkChange, encodeVeth, encodeVlan } from './link-message.ts'
import { encodeNeighbour } from './neighbour-message.ts'
import { completeRoute, encodeRoute } from './route-message.ts'
import { completeRule, encodeRule } from './rule-message.ts'

const refusals: readonly { name: string; encode: () => unknown; error: new (...args: never[]) => Error }[] = [
  {
    name: 'an interface name of 16 bytes',
    encode: () => encodeVeth({ name: 'a-name-too-long0', peer: { name: 'eth0' } }, undefined),
    error: InvalidNetlinkValueError,
  },
  {
    name: 'an interface name with a slash',
    encode: () => encodeLinkChange(1, { name: 'a/b' }, undefined),
    error: InvalidNetlinkValueError,
  },
  {
    name: 'a VLAN beyond 4094',
    encode: () => encodeVlan({ name: 'eth0.5', parentIndex: 1, vlanId: 4095 }),
    error: InvalidNetlinkValueError,
  },
  {
    name: 'an address without a prefix length',
    encode: () => encodeAddressRequest(1, '10.0.0.1', {}),
    error: InvalidCidrError,
  },
  {
    name: 'a MAC of five bytes',
    encode: () => encodeNeighbour({ index: 1, address: '10.0.0.1', mac: '02:00:00:00:00' }),
    error: InvalidMacError,
  },
  {
    name: 'a neighbour without MAC that is no proxy',
    encode: () => encodeNeighbour({ index: 1, address: '10.0.0.1' }),
    error: InvalidNetlinkValueError,
  },
  {
    name: 'an IPv4 gateway for an IPv6 destination',
    encode: () => encodeRoute(completeRoute({ destination: '::/0', gateway: '10.0.0.1' })),
    error: InvalidNetlinkValueError,
  },
  {
    name: 'a rule whose source is of the other family',
    encode: () => encodeRule(completeRule({ family: 'ipv4', priority: 1, from: 'fd00::/64' })),
    error: InvalidNetlinkValueError,
  },
  {
    name: 'a weight of nothing',
    encode: () => encodeRoute(completeRoute({ destination: '::/0', nextHops: [{ index: 1, weight: 0 }] })),
    error: InvalidNetlinkValueError,
  },
]

describe('refused before the kernel is asked:', () => {
  it.each(refusals)('$name', ({ encode, error }) => {
    expect(encode).toThrow(error)
  })
})

describe('completeRoute', () => {
  it('chooses scope, protocol, metric and table as ip(8) and the kernel do', () => {
    const defaults = { protocol: 4, table: 254, type: 'unicast' }
    expect(completeRoute({ destination: '10.0.0.0/8', index: 2 })).toMatchObject({
      ...defaults,
      scope: 253,
      metric: 0,
    })
    expect(completeRoute({ destination: '10.0.0.0/8', gateway: '10.0.0.1' })).toMatchObject({
      ...defaults,
      scope: 0,
      metric: 0,
    })
    expect(completeRoute({ destination: 'fd00::/8', index: 2 })).toMatchObject({
      ...defaults,
      scope: 0,
      metric: 1024,
    })
  })
})
