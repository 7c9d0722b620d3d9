import {
  checkLength,
  formatIp,
  isIpv4Range,
  parseIpRange,
  RangeSet,
  type IpRange,
  type Ipv4,
  type Ipv6,
} from '@kube-ovn/ip'
import { ipPoolAddressSetName } from '@kube-ovn/ovn-names'
import { AddressSetInvalidError } from './errors.ts'

/** Names that a match expression can refer to. */
const usableName = /^[a-zA-Z_.][a-zA-Z_.0-9]*$/

/**
 * Computes what an address set of these entries holds: each range as the fewest prefixes, single addresses without one.
 *
 * Entries are not joined with each other: their set is the same, and users find what they wrote.
 *
 * @throws AddressSetInvalidError, InvalidIpError, InvalidCidrError and InvalidIpRangeError naming `spec.ips`
 */
export function addressSetOf(pool: string, entries: readonly string[]): readonly string[] {
  checkLength(entries, 'spec.ips')
  const ranges = entries.map((entry) => parseIpRange(entry, 'spec.ips'))
  const isV4 = ranges.map((range) => isIpv4Range(range))
  if (isV4.includes(true) && isV4.includes(false)) {
    throw new AddressSetInvalidError({
      pool,
      field: 'spec.ips',
      value: entries.join(','),
      cure: 'make a pool for each family: an address set holds one of them',
    })
  }
  return [...new Set(ranges.flatMap(prefixesOf))]
}

/** @throws AddressSetInvalidError when no match could refer to a set of the name */
export function checkAddressSetName(pool: string): void {
  if (usableName.test(ipPoolAddressSetName(pool))) return
  throw new AddressSetInvalidError({
    pool,
    field: 'metadata.name',
    value: pool,
    cure: 'give the IPPool a name that begins with a letter, or set enableAddressSet to false',
  })
}

function prefixesOf(range: IpRange<Ipv4> | IpRange<Ipv6>): readonly string[] {
  if (range.first === range.last) return [formatIp(range.first)]
  const set = isIpv4Range(range) ? RangeSet.v4([range]) : RangeSet.v6([range])
  return set.toPrefixes().map(withoutHostMask)
}

function withoutHostMask(prefix: string): string {
  return prefix.replace(prefix.includes(':') ? /\/128$/ : /\/32$/, '')
}
