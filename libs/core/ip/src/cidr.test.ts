import fc from 'fast-check'
import oracle from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import {
  cidrOf,
  cidrText,
  contains,
  firstAddress,
  formatCidrList,
  formatIp,
  formatIpList,
  InvalidCidrError,
  InvalidDualStackError,
  InvalidIpError,
  lastAddress,
  networkText,
  overlaps,
  parseCidr,
  parseCidrList,
  parseIp,
  parseIpList,
  sameNetwork,
  usableCount,
  usableRange,
  type Ipv4,
  type Ipv6,
} from './index.ts'

const v4Cidr = fc
  .tuple(fc.integer({ min: 0, max: 0xffff_ffff }), fc.integer({ min: 0, max: 32 }))
  .map(([ip, prefixLength]) => cidrOf(ip as Ipv4, prefixLength))
const v6Cidr = fc
  .tuple(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.integer({ min: 0, max: 128 }))
  .map(([ip, prefixLength]) => cidrOf(ip as Ipv6, prefixLength))

describe('parseCidr', () => {
  it('keeps the address as written and knows the network', () => {
    const cidr = parseCidr('10.16.3.4/16')
    expect(cidr).toMatchObject({ family: 4, prefixLength: 16 })
    expect(formatIp(cidr.address)).toBe('10.16.3.4')
    expect(networkText(cidr)).toBe('10.16.0.0/16')
    expect(cidrText(cidr)).toBe('10.16.3.4/16')
    expect(networkText(parseCidr('FD00:10:16::5/112'))).toBe('fd00:10:16::/112')
  })

  it.each([
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/-1',
    'fd00::/129',
    '::ffff:10.0.0.0/104',
    '/8',
  ])('refuses %j', (text) => {
    expect(() => parseCidr(text, 'spec.cidrBlock')).toThrow(InvalidCidrError)
  })

  it('agrees with ipaddr.js about networks, ends and membership', () => {
    fc.assert(
      fc.property(fc.oneof(v4Cidr, v6Cidr), fc.oneof(v4Cidr, v6Cidr), (cidr, other) => {
        const text = cidrText(cidr)
        expect(parseCidr(text)).toEqual(cidr)
        const library = cidr.family === 4 ? oracle.IPv4 : oracle.IPv6
        expect(formatIp(parseIp(library.networkAddressFromCIDR(text).toString()))).toBe(
          formatIp(firstAddress(cidr)),
        )
        if (cidr.family === 4) {
          expect(oracle.IPv4.broadcastAddressFromCIDR(text).toString()).toBe(formatIp(lastAddress(cidr)))
        }
        const address = oracle.parse(formatIp(other.address))
        const sameFamily = cidr.family === other.family
        expect(contains(cidr, other.address)).toBe(sameFamily && address.match(oracle.parseCIDR(text)))
        expect(contains(cidr, cidr.address)).toBe(true)
        expect(contains(cidr, lastAddress(cidr))).toBe(true)
        const meets = contains(cidr, other.network) || contains(other, cidr.network)
        expect(overlaps(cidr, other)).toBe(meets)
        expect(overlaps(other, cidr)).toBe(meets)
      }),
    )
  })

  it('compares networks without their host bits', () => {
    expect(sameNetwork(parseCidr('10.16.0.1/16'), parseCidr('10.16.9.9/16'))).toBe(true)
    expect(sameNetwork(parseCidr('10.16.0.0/16'), parseCidr('10.16.0.0/17'))).toBe(false)
    expect(sameNetwork(parseCidr('0.0.0.0/0'), parseCidr('::/0'))).toBe(false)
  })
})

describe('usableRange', () => {
  it.each([
    ['10.16.0.0/24', '10.16.0.1', '10.16.0.254', 254n],
    ['fd00::/120', 'fd00::1', 'fd00::fe', 254n],
    ['10.16.0.5/31', '10.16.0.4', '10.16.0.5', 2n],
    ['fd00::/127', 'fd00::', 'fd00::1', 2n],
    ['10.16.0.5/32', '10.16.0.5', '10.16.0.5', 1n],
    ['0.0.0.0/0', '0.0.0.1', '255.255.255.254', (1n << 32n) - 2n],
    ['::/0', '::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe', (1n << 128n) - 2n],
  ])('of %s is %s to %s', (text, first, last, count) => {
    const cidr = parseCidr(text)
    const range = usableRange(cidr)
    expect([formatIp(range.first), formatIp(range.last), usableCount(cidr)]).toEqual([first, last, count])
  })
})

describe('dual-stack lists', () => {
  it('sort families whatever the order given', () => {
    const cidrs = parseCidrList('fd00:10:16::/112, 10.16.0.0/16')
    expect(formatCidrList(cidrs)).toBe('10.16.0.0/16,fd00:10:16::/112')
    expect(formatIpList(parseIpList('fd00::1,10.16.0.1'))).toBe('10.16.0.1,fd00::1')
    expect(parseIpList('fd00::1')).toEqual({ v6: parseIp('fd00::1') })
    expect(formatCidrList({})).toBe('')
  })

  it.each(['', ' ,', '10.0.0.0/8,10.0.0.0/9', 'fd00::/64,fd01::/64,10.0.0.0/8'])('refuse %j', (text) => {
    expect(() => parseCidrList(text)).toThrow(InvalidDualStackError)
  })

  it.each([
    '10.0.0.0/33,fd00::/64',
    '10.0.0.256/8,fd00::/64',
    '10.0.0.0/8,fd00::/129',
    '10.0.0.0/8,fd00::g/64',
  ])('refuse %s, one half of which is bad', (text) => {
    expect(() => parseCidrList(text)).toThrow(InvalidCidrError)
  })

  it('refuse a bad half and a repeated family of addresses', () => {
    expect(() => parseIpList('10.0.0.1,')).toThrow(InvalidIpError)
    expect(() => parseIpList('10.0.0.1,10.0.0.2')).toThrow(InvalidDualStackError)
  })
})
