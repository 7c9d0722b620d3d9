import { isIpv4, isIpv6, tryParseIp, type Ipv4, type Ipv6 } from './address.ts'
import { blockRange, parseCidr, type IpRange } from './cidr.ts'
import { InvalidIpError, InvalidIpRangeError } from './errors.ts'
import { RangeSet } from './range-set.ts'

/** The addresses of a mixed list, by family; a family that does not occur has an empty set. */
export interface RangeSets {
  readonly v4: RangeSet<Ipv4>
  readonly v6: RangeSet<Ipv6>
}

/** How many entries a list of addresses may have: each costs some hundred bytes and nanoseconds, whatever it spans. */
export const mostEntries = 1024

const writeRanges = 'write neighbours as one range like 10.16.0.10..10.16.0.20'

/**
 * Refuses a list for its length before anything of it is read.
 *
 * @param how what to do to get by with fewer entries
 * @throws InvalidIpRangeError naming `field`
 */
export function checkLength(entries: readonly unknown[], field: string, how = writeRanges): void {
  if (entries.length <= mostEntries) return
  const cure = `list at most ${mostEntries} entries: ${how}`
  throw new InvalidIpRangeError({ field, value: `${entries.length} entries`, cure })
}

/**
 * Reads one entry of a list of addresses: `ip`, `ip..ip` (both included) or a CIDR (the whole block).
 *
 * @throws InvalidIpError, InvalidCidrError or InvalidIpRangeError naming `field`.
 */
export function parseIpRange(text: string, field = 'ips'): IpRange<Ipv4> | IpRange<Ipv6> {
  const value = text.trim()
  if (value.includes('/')) return blockRange(parseCidr(value, field))
  const dots = value.indexOf('..')
  const firstText = dots < 0 ? value : value.slice(0, dots)
  const lastText = dots < 0 ? value : value.slice(dots + 2)
  const first = tryParseIp(firstText.trim())
  const last = dots < 0 ? first : tryParseIp(lastText.trim())
  if (first === undefined || last === undefined) {
    const cure = 'write an address, a range like 10.16.0.10..10.16.0.20, or a CIDR'
    throw dots < 0
      ? new InvalidIpError({ field, value: text, cure })
      : new InvalidIpRangeError({ field, value: text, cure })
  }
  if (first <= last) {
    if (isIpv4(first) && isIpv4(last)) return { first, last }
    if (isIpv6(first) && isIpv6(last)) return { first, last }
  }
  const cure =
    typeof first === typeof last
      ? `write the lower address first: ${lastText}..${firstText}`
      : 'write both ends in the same family'
  throw new InvalidIpRangeError({ field, value: text, cure })
}

/** Like {@link parseIpRange}, `undefined` when the text is none. */
export function tryParseIpRange(text: string): IpRange<Ipv4> | IpRange<Ipv6> | undefined {
  try {
    return parseIpRange(text)
  } catch {
    return undefined
  }
}

/** Whether a range is one of IPv4 addresses; a range has both ends in one family. */
export function isIpv4Range(range: IpRange<Ipv4> | IpRange<Ipv6>): range is IpRange<Ipv4> {
  return isIpv4(range.first)
}

/**
 * Reads a list of entries as {@link parseIpRange} does and merges them.
 *
 * @throws InvalidIpError, InvalidCidrError or InvalidIpRangeError naming `field`.
 */
export function parseRangeSets(entries: readonly string[], field = 'ips'): RangeSets {
  checkLength(entries, field)
  const sets: RangeSets = { v4: RangeSet.v4(), v6: RangeSet.v6() }
  for (const entry of entries) {
    const range = parseIpRange(entry, field)
    if (isIpv4Range(range)) sets.v4.addRange(range.first, range.last)
    else sets.v6.addRange(range.first, range.last)
  }
  return sets
}
