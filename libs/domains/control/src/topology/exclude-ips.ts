import {
  checkLength,
  compareIps,
  familyOf,
  formatIp,
  InvalidIpRangeError,
  lastAddress,
  parseIpRange,
} from '@kube-ovn/ip'
import type { DualStackIp, Ip } from '@kube-ovn/ip'
import type { Network } from './network.ts'

const field = 'spec.excludeIps'

interface Range {
  readonly first: Ip
  readonly last: Ip
}

/**
 * Brings `spec.excludeIps` into its normal form: overlapping entries merged, the gateways covered, sorted as text.
 *
 * Neighbouring entries stay apart, as users wrote them. A prefix is not an entry: upstream never took one. As what is in
 * effect is kept in the object's status and told to namespaces, too, there are not more entries than `mostEntries`.
 *
 * @throws InvalidIpError, InvalidIpRangeError naming `spec.excludeIps`
 */
export function normaliseExcludeIps(entries: readonly string[], gateways: DualStackIp): readonly string[] {
  checkLength(entries, field)
  const ranges = entries.map(parseEntry)
  for (const gateway of [gateways.v4, gateways.v6]) {
    if (gateway !== undefined) ranges.push({ first: gateway, last: gateway })
  }
  return mergeOverlapping(ranges).map(rangeText).sort()
}

function parseEntry(entry: string): Range {
  if (entry.includes('/')) {
    const cure = 'write an address like 10.16.0.5 or a range like 10.16.0.5..10.16.0.9'
    throw new InvalidIpRangeError({ field, value: entry, cure })
  }
  return parseIpRange(entry, field)
}

function mergeOverlapping(ranges: readonly Range[]): readonly Range[] {
  const merged: Range[] = []
  for (const range of ranges.toSorted((a, b) => compareIps(a.first, b.first))) {
    const previous = merged.at(-1)
    if (previous === undefined || !touches(previous, range)) {
      merged.push(range)
    } else if (compareIps(previous.last, range.last) < 0) {
      merged[merged.length - 1] = { first: previous.first, last: range.last }
    }
  }
  return merged
}

function touches(previous: Range, next: Range): boolean {
  return familyOf(previous.last) === familyOf(next.first) && compareIps(next.first, previous.last) <= 0
}

function rangeText(range: Range): string {
  const first = formatIp(range.first)
  return range.first === range.last ? first : `${first}..${formatIp(range.last)}`
}

/** Finds the entries that exclude nothing, since they are outside of the network. */
export function strayExcludes({
  cidrs,
  excludeIps,
}: Pick<Network, 'cidrs' | 'excludeIps'>): readonly string[] {
  return excludeIps.filter((entry) => {
    const { first, last } = parseEntry(entry)
    const cidr = familyOf(first) === 4 ? cidrs.v4 : cidrs.v6
    return (
      cidr === undefined || compareIps(last, cidr.network) < 0 || compareIps(first, lastAddress(cidr)) > 0
    )
  })
}
