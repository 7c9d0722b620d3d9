import { InvalidIpError } from './errors.ts'

declare const ipv4: unique symbol
declare const ipv6: unique symbol

/** An IPv4 address as an unsigned 32-bit number, so that `<` orders addresses. */
export type Ipv4 = number & { readonly [ipv4]: true }

/** An IPv6 address as an unsigned 128-bit number, so that `<` orders addresses. */
export type Ipv6 = bigint & { readonly [ipv6]: true }

/** An address of either family; `typeof` tells which. Primitive, so it is its own map key. */
export type Ip = Ipv4 | Ipv6

export type Family = 4 | 6

const dottedQuad = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
const hexGroup = /^[0-9a-fA-F]{1,4}$/
const mappedPrefix = 0xffffn

export function isIpv4(ip: Ip): ip is Ipv4 {
  return typeof ip === 'number'
}

export function isIpv6(ip: Ip): ip is Ipv6 {
  return typeof ip === 'bigint'
}

export function familyOf(ip: Ip): Family {
  return typeof ip === 'number' ? 4 : 6
}

/** Orders all IPv4 addresses before all IPv6 addresses, and numerically within a family. */
export function compareIps(a: Ip, b: Ip): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Reads four decimal octets.
 *
 * Octets with leading zeros are refused, as Go does: some programs read them as octal.
 */
export function tryParseIpv4(text: string): Ipv4 | undefined {
  const match = dottedQuad.exec(text)
  if (match === null) return undefined
  let value = 0
  for (let index = 1; index <= 4; index++) {
    const digits = match[index] ?? ''
    const octet = Number(digits)
    if (octet > 255 || (digits.length > 1 && digits.startsWith('0'))) return undefined
    value = value * 256 + octet
  }
  return value as Ipv4
}

/** Reads any RFC 4291 text form, without a zone; an IPv4-mapped address stays 128 bits wide. */
export function tryParseIpv6(text: string): Ipv6 | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0] ?? '', halves.length === 1)
  const tail = parseGroups(halves[1] ?? '', true)
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  // "::" stands for at least one group, and without it all eight must be written.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  let value = 0n
  for (const group of head) value = (value << 16n) | BigInt(group)
  value <<= 16n * BigInt(missing)
  for (const group of tail) value = (value << 16n) | BigInt(group)
  return value as Ipv6
}

/** Reads colon-separated groups; only the end of an address may be a dotted quad. */
function parseGroups(text: string, isEnd: boolean): readonly number[] | undefined {
  if (text === '') return []
  const words = text.split(':')
  const groups: number[] = []
  for (const [index, word] of words.entries()) {
    if (hexGroup.test(word)) {
      groups.push(Number.parseInt(word, 16))
      continue
    }
    const embedded = isEnd && index === words.length - 1 ? tryParseIpv4(word) : undefined
    if (embedded === undefined) return undefined
    groups.push(embedded >>> 16, embedded & 0xffff)
  }
  return groups
}

/**
 * Reads an address as Go's `net.ParseIP` does, `undefined` when it is none.
 *
 * An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) is the IPv4 address, as everywhere in Go's `net`.
 */
export function tryParseIp(text: string): Ip | undefined {
  if (!text.includes(':')) return tryParseIpv4(text)
  const wide = tryParseIpv6(text)
  return wide !== undefined && wide >> 32n === mappedPrefix ? (Number(wide & 0xffff_ffffn) as Ipv4) : wide
}

/** Like {@link tryParseIp}. @throws InvalidIpError naming `field`. */
export function parseIp(text: string, field = 'ip'): Ip {
  const ip = tryParseIp(text)
  if (ip === undefined) {
    const cure = 'write an IPv4 address like 10.16.0.5 or an IPv6 address like fd00:10:16::5'
    throw new InvalidIpError({ field, value: text, cure })
  }
  return ip
}

/** Like {@link tryParseIpv4}. @throws InvalidIpError naming `field`. */
export function parseIpv4(text: string, field = 'ip'): Ipv4 {
  const ip = tryParseIpv4(text)
  if (ip === undefined) {
    throw new InvalidIpError({ field, value: text, cure: 'write an IPv4 address like 10.16.0.5' })
  }
  return ip
}

/** Like {@link tryParseIpv6}. @throws InvalidIpError naming `field`. */
export function parseIpv6(text: string, field = 'ip'): Ipv6 {
  const ip = tryParseIpv6(text)
  if (ip === undefined) {
    throw new InvalidIpError({ field, value: text, cure: 'write an IPv6 address like fd00:10:16::5' })
  }
  return ip
}

/** Prints the canonical form: dotted decimal, or RFC 5952 (lower case, longest run of zeros as `::`). */
export function formatIp(ip: Ip): string {
  return typeof ip === 'number' ? formatIpv4(ip) : formatIpv6(ip)
}

function formatIpv4(ip: Ipv4): string {
  return `${ip >>> 24}.${(ip >>> 16) & 255}.${(ip >>> 8) & 255}.${ip & 255}`
}

function formatIpv6(ip: Ipv6): string {
  if (ip >> 32n === mappedPrefix) return `::ffff:${formatIpv4(Number(ip & 0xffff_ffffn) as Ipv4)}`
  const groups: number[] = []
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    const word = Number((ip >> shift) & 0xffff_ffffn)
    groups.push(word >>> 16, word & 0xffff)
  }
  const run = longestZeroRun(groups)
  const hex = groups.map((group) => group.toString(16))
  if (run.length < 2) return hex.join(':')
  return `${hex.slice(0, run.start).join(':')}::${hex.slice(run.start + run.length).join(':')}`
}

/** Finds the first of the longest runs of zero groups. */
function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 }
  let start = 0
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1
    else if (index - start + 1 > best.length) best = { start, length: index - start + 1 }
  }
  return best
}

/** Moves an address by `delta`, wrapping around at both ends of its family. */
export function offsetIp<A extends Ip>(ip: A, delta: number | bigint): A
export function offsetIp(ip: Ip, delta: number | bigint): Ip {
  const sum = BigInt(ip) + BigInt(delta)
  return typeof ip === 'number'
    ? (Number(BigInt.asUintN(32, sum)) as Ipv4)
    : (BigInt.asUintN(128, sum) as Ipv6)
}
