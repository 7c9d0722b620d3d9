import fc from 'fast-check'
import {
  RangeSet,
  cidrOf,
  firstAddress,
  formatIp,
  isIpv4,
  lastAddress,
  parseCidr,
  type Ipv4,
} from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { InvalidSetError } from './errors.ts'
import { mergeElements } from './merge.ts'
import type { NftSet, SetElement } from './types.ts'

function set(elements: readonly SetElement[], type: NftSet['type'] = 'ipv4_addr'): NftSet {
  return { name: 's', type, flags: ['interval'], autoMerge: true, elements }
}

/** What a list of elements covers. */
function coverage(elements: readonly SetElement[]): RangeSet<Ipv4> {
  const covered = RangeSet.v4()
  for (const element of elements) {
    const text =
      typeof element === 'object' && 'prefix' in element
        ? `${element.prefix.addr}/${element.prefix.len}`
        : typeof element === 'string'
          ? `${element}/32`
          : expect.unreachable('a range is not in these tests')
    const cidr = parseCidr(text)
    const first = firstAddress(cidr)
    const last = lastAddress(cidr)
    if (isIpv4(first) && isIpv4(last)) covered.addRange(first, last)
  }
  return covered
}

describe('mergeElements', () => {
  it('covers the same addresses with elements that do not overlap', () => {
    const element = fc
      .tuple(fc.nat(0xffffffff), fc.integer({ min: 8, max: 32 }))
      .map(([value, len]): SetElement => {
        const cidr = cidrOf(value as Ipv4, len)
        return len === 32 ? formatIp(cidr.address) : { prefix: { addr: formatIp(cidr.network), len } }
      })
    fc.assert(
      fc.property(fc.array(element), (elements) => {
        const merged = mergeElements(set(elements))
        expect(coverage(merged).toPrefixes()).toEqual(coverage(elements).toPrefixes())
        const sizes = merged.map((one) => coverage([one]).size())
        expect(sizes.reduce((sum, size) => sum + size, 0n)).toBe(coverage(elements).size())
      }),
    )
  })

  it('takes ranges and IPv6', () => {
    expect(mergeElements(set([{ range: ['10.0.0.0', '10.0.0.255'] }, '10.0.0.7']))).toEqual([
      { prefix: { addr: '10.0.0.0', len: 24 } },
    ])
    expect(
      mergeElements(set([{ prefix: { addr: 'fd00::', len: 64 } }, 'fd00::1', 'fd01::1'], 'ipv6_addr')),
    ).toEqual([{ prefix: { addr: 'fd00::', len: 64 } }, 'fd01::1'])
  })

  it('refuses what it cannot merge', () => {
    expect(() => mergeElements(set([80], 'inet_service'))).toThrow(InvalidSetError)
    expect(() => mergeElements(set(['fd00::1']))).toThrow(InvalidSetError)
    expect(() => mergeElements(set([{ concat: ['10.0.0.1', 80] }]))).toThrow(InvalidSetError)
  })
})
