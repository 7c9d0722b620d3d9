import fc from 'fast-check'
import { cidrOf, formatIp, networkText, type Ip, type Ipv4, type Ipv6 } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { attribute, eachAttribute } from './attributes.ts'
import { decodeAddress, decodeMac, encodeAddress, encodeMac, encodePrefix } from './inet.ts'
import { completeRoute, encodeRoute, parseRoute } from './route-message.ts'
import { completeRule, encodeRule, parseRule } from './rule-message.ts'
import type { Family, RouteRequest, RuleRequest } from './types.ts'

const ipv4 = fc.nat(0xffffffff).map((value) => value as Ipv4)
const ipv6 = fc.bigInt(0n, (1n << 128n) - 1n).map((value) => value as Ipv6)
const number32 = fc.nat(0xffffffff)
const index = fc.integer({ min: 1, max: 0x7fffffff })

function ofFamily(family: Family): fc.Arbitrary<Ip> {
  return family === 'ipv4' ? ipv4 : ipv6
}

function prefix(family: Family): fc.Arbitrary<string> {
  return fc
    .tuple(ofFamily(family), fc.nat(family === 'ipv4' ? 32 : 128))
    .map(([ip, length]) => networkText(cidrOf(ip, length)))
}

/** Leaves out keys whose value is `undefined`, as `exactOptionalPropertyTypes` wants it. */
function optional<T extends object>(values: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<
  Partial<T>
> {
  return fc.record(values, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>
}

function route(family: Family): fc.Arbitrary<RouteRequest> {
  const address = ofFamily(family).map(formatIp)
  return fc
    .tuple(
      prefix(family),
      optional<Omit<RouteRequest, 'destination' | 'nextHops' | 'onlink'>>({
        gateway: address,
        index,
        source: address,
        scope: fc.nat(255),
        protocol: fc.nat(255),
        metric: number32,
        table: number32.filter((table) => table > 0),
        type: fc.constantFrom('unicast', 'local', 'blackhole', 'unreachable', 'prohibit', 'throw'),
        mtu: fc.integer({ min: 1, max: 65535 }),
      }),
      fc.option(
        fc.array(fc.record({ gateway: address, index, weight: fc.integer({ min: 1, max: 256 }) }), {
          minLength: 1,
          maxLength: 4,
        }),
        { nil: undefined },
      ),
    )
    .map(([destination, rest, nextHops]) => ({
      destination,
      ...rest,
      ...(nextHops === undefined ? {} : { nextHops }),
    }))
}

function rule(family: Family): fc.Arbitrary<RuleRequest> {
  return fc
    .tuple(
      number32,
      optional<Omit<RuleRequest, 'family' | 'priority' | 'not' | 'markMask'>>({
        from: prefix(family),
        to: prefix(family),
        inputInterface: fc.stringMatching(/^[a-z][a-z0-9]{0,14}$/),
        outputInterface: fc.stringMatching(/^[a-z][a-z0-9]{0,14}$/),
        mark: number32,
        table: number32.filter((table) => table > 0),
        action: fc.constantFrom('lookup', 'blackhole', 'unreachable', 'prohibit'),
        protocol: fc.nat(255),
      }),
    )
    .map(([priority, rest]) => ({ family, priority, ...rest }))
}

describe('what is written is read back', () => {
  it('for IPv6 addresses that embed IPv4', () => {
    expect(decodeAddress(encodeAddress('address', '::ffff:10.0.0.1'))).toBe('::ffff:10.0.0.1')
    expect(encodeAddress('address', '10.0.0.1').toString('hex')).toBe('0a000001')
  })

  it('for addresses and prefixes', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6).map(formatIp), (address) => {
        expect(decodeAddress(encodeAddress('address', address))).toBe(address)
      }),
    )
    expect(encodePrefix('cidr', 'fd00::5/64')).toEqual({
      family: 'ipv6',
      address: Buffer.from('fd000000000000000000000000000005', 'hex'),
      length: 64,
    })
  })

  it('for MACs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (bytes) => {
        expect(encodeMac('mac', decodeMac(Buffer.from(bytes)))).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('for runs of attributes of any length', () => {
    const attributes = fc.array(
      fc.record({ type: fc.integer({ min: 1, max: 0x3fff }), value: fc.uint8Array({ maxLength: 9 }) }),
    )
    fc.assert(
      fc.property(attributes, (list) => {
        const wanted = list.map(({ type, value }) => ({ type, value: Buffer.from(value) }))
        const bytes = Buffer.concat(wanted.map(({ type, value }) => attribute(type, value)))
        expect([...eachAttribute(bytes)]).toEqual(wanted)
      }),
    )
  })

  it.each(['ipv4', 'ipv6'] as const)('for %s routes', (family) => {
    fc.assert(
      fc.property(route(family), (request) => {
        const complete = completeRoute(request)
        expect(parseRoute(encodeRoute(complete))).toEqual(complete)
      }),
    )
  })

  it.each(['ipv4', 'ipv6'] as const)('for %s rules', (family) => {
    fc.assert(
      fc.property(rule(family), (request) => {
        const complete = completeRule(request)
        expect(parseRule(encodeRule(complete))).toEqual(complete)
      }),
    )
  })
})

describe('garbage', () => {
  it('never makes the reader of attributes fail', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        for (const { value } of eachAttribute(Buffer.from(bytes)))
          expect(value.length).toBeLessThan(bytes.length)
      }),
    )
  })
})
