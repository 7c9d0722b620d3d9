import { formatIp, isIpv4, parseIp, type Ipv4, type Ipv6 } from './address.ts'
import { networkText, parseCidr, type CidrV4, type CidrV6 } from './cidr.ts'
import { InvalidDualStackError } from './errors.ts'

/** One value for each family that is there. */
export interface DualStack<V4, V6 = V4> {
  readonly v4?: V4 | undefined
  readonly v6?: V6 | undefined
}

export type DualStackIp = DualStack<Ipv4, Ipv6>
export type DualStackCidr = DualStack<CidrV4, CidrV6>

/**
 * Reads `v4`, `v6` or `v4,v6` prefixes, in any order.
 *
 * @throws InvalidCidrError, and InvalidDualStackError when a family occurs twice or there is none.
 */
export function parseCidrList(text: string, field = 'cidr'): DualStackCidr {
  let v4: CidrV4 | undefined
  let v6: CidrV6 | undefined
  for (const part of words(text, field)) {
    const cidr = parseCidr(part, field)
    if (cidr.family === 4 ? v4 !== undefined : v6 !== undefined) throw repeated(text, field)
    if (cidr.family === 4) v4 = cidr
    else v6 = cidr
  }
  return pair(v4, v6)
}

/**
 * Reads `v4`, `v6` or `v4,v6` addresses, in any order.
 *
 * @throws InvalidIpError, and InvalidDualStackError when a family occurs twice or there is none.
 */
export function parseIpList(text: string, field = 'ip'): DualStackIp {
  let v4: Ipv4 | undefined
  let v6: Ipv6 | undefined
  for (const part of words(text, field)) {
    const ip = parseIp(part, field)
    if (isIpv4(ip) ? v4 !== undefined : v6 !== undefined) throw repeated(text, field)
    if (isIpv4(ip)) v4 = ip
    else v6 = ip
  }
  return pair(v4, v6)
}

/** No two values are longer, whatever blanks are around them. */
const longestPair = 1024

function words(text: string, field: string): readonly string[] {
  if (text.length > longestPair) throw repeated(text, field)
  const parts = text.split(',').map((part) => part.trim())
  if (parts.every((part) => part === '')) {
    throw new InvalidDualStackError({ field, value: text, cure: 'give one value, or one per family: v4,v6' })
  }
  return parts
}

function repeated(text: string, field: string): InvalidDualStackError {
  return new InvalidDualStackError({ field, value: text, cure: 'give at most one value per family: v4,v6' })
}

function pair<V4, V6>(v4: V4 | undefined, v6: V6 | undefined): DualStack<V4, V6> {
  return { ...(v4 === undefined ? {} : { v4 }), ...(v6 === undefined ? {} : { v6 }) }
}

/** Prints the addresses that are there as `v4,v6`; empty when there is none. */
export function formatIpList(ips: DualStackIp): string {
  return [ips.v4, ips.v6]
    .filter((ip) => ip !== undefined)
    .map((ip) => formatIp(ip))
    .join(',')
}

/** Prints the prefixes that are there, without host bits, as `v4,v6`; empty when there is none. */
export function formatCidrList(cidrs: DualStackCidr): string {
  return [cidrs.v4, cidrs.v6]
    .filter((cidr) => cidr !== undefined)
    .map((cidr) => networkText(cidr))
    .join(',')
}
