import fc from 'fast-check'
import oracle from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import {
  compareIps,
  familyOf,
  formatIp,
  InvalidIpError,
  offsetIp,
  parseIp,
  parseIpv4,
  parseIpv6,
  tryParseIp,
  tryParseIpv4,
  tryParseIpv6,
  type Ip,
  type Ipv4,
  type Ipv6,
} from './index.ts'

const v4 = fc.integer({ min: 0, max: 0xffff_ffff }).map((value) => value as Ipv4)
const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
const v6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups) => groups.reduce((value, next) => (value << 16n) | BigInt(next), 0n) as Ipv6)

describe('parseIp', () => {
  it.each([
    ['10.16.0.1', '10.16.0.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['FD00:10:16::1', 'fd00:10:16::1'],
    ['fd00:0010:0016:0000:0000:0000:0000:0001', 'fd00:10:16::1'],
    ['::', '::'],
    ['1::', '1::'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
  ])('reads %s as %s', (text, canonical) => {
    expect(formatIp(parseIp(text))).toBe(canonical)
  })

  it.each([
    '',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.01',
    '10.0.0.0x1',
    ' 10.0.0.1',
    '10.0.0.1/24',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '00001::',
    'fe80::1%eth0',
    '10.0.0.1::',
    '1:2:3:4:5:6:7:10.0.0.1',
    '::10.0.0.256',
    'g::',
  ])('refuses %j', (text) => {
    expect(tryParseIp(text)).toBeUndefined()
    expect(() => parseIp(text, 'spec.gateway')).toThrow(InvalidIpError)
  })

  it('names the field, the value and the cure', () => {
    try {
      parseIp('10.0.0.256', 'spec.gateway')
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({
        message: 'invalid IP address',
        details: { field: 'spec.gateway', value: '10.0.0.256', cure: expect.stringContaining('10.16.0.5') },
      })
    }
  })

  it('keeps an IPv4-mapped address wide only when asked for IPv6', () => {
    expect(familyOf(parseIp('::ffff:10.0.0.1'))).toBe(4)
    expect(familyOf(parseIpv6('::ffff:10.0.0.1'))).toBe(6)
    expect(tryParseIpv4('::ffff:10.0.0.1')).toBeUndefined()
    expect(() => parseIpv4('::1')).toThrow(InvalidIpError)
    expect(() => parseIpv6('10.0.0.1')).toThrow(InvalidIpError)
  })
})

describe('addresses against ipaddr.js', () => {
  it('prints and reads IPv4 alike', () => {
    fc.assert(
      fc.property(v4, (ip) => {
        const text = formatIp(ip)
        const bytes = oracle.IPv4.parse(text).toByteArray()
        expect(bytes.reduce((value, byte) => value * 256 + byte, 0)).toBe(ip)
        expect(parseIpv4(text)).toBe(ip)
      }),
    )
  })

  it('prints IPv6 in the form of RFC 5952 and reads every other form', () => {
    fc.assert(
      fc.property(v6, (ip) => {
        const text = formatIp(ip)
        const other = oracle.IPv6.parse(text)
        expect(BigInt(`0x${other.toByteArray().map(hex).join('')}`)).toBe(ip)
        if (!other.isIPv4MappedAddress()) expect(text).toBe(other.toRFC5952String())
        expect(parseIpv6(text)).toBe(ip)
        expect(parseIpv6(other.toNormalizedString())).toBe(ip)
        expect(
          parseIpv6(
            other.parts
              .map((part) => part.toString(16).padStart(4, '0'))
              .join(':')
              .toUpperCase(),
          ),
        ).toBe(ip)
      }),
    )
  })

  it('refuses what ipaddr.js refuses', () => {
    const noise = fc.string({ unit: fc.constantFrom('0', '1', 'f', ':', '::', '.', 'F'), maxLength: 20 })
    fc.assert(
      fc.property(noise, (text) => {
        if (tryParseIpv6(text) !== undefined) expect(oracle.IPv6.isValid(text)).toBe(true)
        if (tryParseIpv4(text) !== undefined) expect(oracle.IPv4.isValidFourPartDecimal(text)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('offsetIp', () => {
  it.each<[string, number | bigint, string]>([
    ['10.0.0.255', 1, '10.0.1.0'],
    ['10.0.1.0', -1, '10.0.0.255'],
    ['255.255.255.255', 1, '0.0.0.0'],
    ['0.0.0.0', -1, '255.255.255.255'],
    ['fd00::ffff', 1, 'fd00::1:0'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 1n, '::'],
    ['::', -1n, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fd00::', 1n << 64n, 'fd00:0:0:1::'],
  ])('%s %d is %s', (from, delta, to) => {
    expect(formatIp(offsetIp(parseIp(from), delta))).toBe(to)
  })
})

describe('compareIps', () => {
  it('is the numeric order within a family and puts IPv4 first', () => {
    const texts = ['::', '10.0.0.10', '10.0.0.9', '0.0.0.0', 'fd00::1:0', 'fd00::ffff', '9.255.255.255']
    expect(
      texts
        .map((text): Ip => parseIp(text))
        .sort(compareIps)
        .map(formatIp),
    ).toEqual(['0.0.0.0', '9.255.255.255', '10.0.0.9', '10.0.0.10', '::', 'fd00::ffff', 'fd00::1:0'])
    expect(compareIps(parseIp('fd00::1'), parseIp('FD00:0::1'))).toBe(0)
  })
})

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
