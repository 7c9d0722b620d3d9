import {
  RangeSet,
  cidrOf,
  firstAddress,
  formatIp,
  isIpv4,
  isIpv6,
  lastAddress,
  parseCidr,
  tryParseIp,
  type Ip,
} from '@kube-ovn/ip'
import { InvalidSetError } from './errors.ts'
import type { NftSet, SetElement, Value } from './types.ts'

/**
 * Rewrites the elements of a set of addresses as the fewest prefixes that cover the same.
 *
 * nft has `auto-merge` for this, but some versions (1.0.6) refuse overlaps all the same when they read JSON.
 */
export function mergeElements(set: NftSet): readonly SetElement[] {
  if (set.type !== 'ipv4_addr' && set.type !== 'ipv6_addr') {
    throw new InvalidSetError({ set: set.name, value: String(set.type), expected: 'ipv4_addr or ipv6_addr' })
  }
  const v4 = RangeSet.v4()
  const v6 = RangeSet.v6()
  for (const element of set.elements) {
    const { first, last } = boundsOf(set, element)
    if (isIpv4(first) && isIpv4(last)) v4.addRange(first, last)
    else if (isIpv6(first) && isIpv6(last)) v6.addRange(first, last)
  }
  return [...v4.toPrefixes(), ...v6.toPrefixes()].map(asElement)
}

function boundsOf(set: NftSet, element: SetElement): { first: Ip; last: Ip } {
  if (typeof element === 'string') {
    const ip = addressOf(set, element)
    return { first: ip, last: ip }
  }
  if (typeof element === 'object' && 'prefix' in element) {
    const cidr = cidrOf(addressOf(set, element.prefix.addr), element.prefix.len)
    return { first: firstAddress(cidr), last: lastAddress(cidr) }
  }
  if (typeof element === 'object' && 'range' in element) {
    const [first, last] = element.range
    return { first: addressOf(set, first), last: addressOf(set, last) }
  }
  throw new InvalidSetError({
    set: set.name,
    value: JSON.stringify(element),
    expected: 'an address, a prefix or a range',
  })
}

function addressOf(set: NftSet, value: Value): Ip {
  const ip = typeof value === 'string' ? tryParseIp(value) : undefined
  const isOfSet = ip !== undefined && isIpv4(ip) === (set.type === 'ipv4_addr')
  if (isOfSet) return ip
  throw new InvalidSetError({
    set: set.name,
    value: JSON.stringify(value),
    expected: set.type === 'ipv4_addr' ? 'an IPv4 address' : 'an IPv6 address',
  })
}

function asElement(prefix: string): SetElement {
  const { address, family, prefixLength } = parseCidr(prefix)
  const addr = formatIp(address)
  return prefixLength === (family === 4 ? 32 : 128) ? addr : { prefix: { addr, len: prefixLength } }
}
