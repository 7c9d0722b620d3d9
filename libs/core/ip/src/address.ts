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

const mappedPrefix = 0xffffn

/** Longest text of an address: six groups of four digits, and an IPv4 address. */
const longestAddress = 45

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
  return parseQuad(text, 0)
}

/** Reads the octets from `start` to the end of the text. */
function parseQuad(text: string, start: number): Ipv4 | undefined {
  if (text.length - start > 15) return undefined
  let value = 0
  let dots = 0
  let octet = -1
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === dot) {
      if (octet < 0 || ++dots > 3) return undefined
      value = value * 256 + octet
      octet = -1
      continue
    }
    const digit = code - zero
    // A zero is an octet by itself, so that no digit follows it.
    if (digit < 0 || digit > 9 || octet === 0) return undefined
    octet = octet < 0 ? digit : octet * 10 + digit
    if (octet > 255) return undefined
  }
  return octet < 0 || dots !== 3 ? undefined : ((value * 256 + octet) as Ipv4)
}

const zero = 48
const dot = 46
const colon = 58

/** The address that is being read or printed: as words, the lowest first, and as groups, the highest first. */
const words = new Uint32Array(4)
const halves = new BigUint64Array(words.buffer)
const groups = new Uint16Array(8)

/** Reads any RFC 4291 text form, without a zone; an IPv4-mapped address stays 128 bits wide. */
export function tryParseIpv6(text: string): Ipv6 | undefined {
  if (text.length > longestAddress) return undefined
  let count = 0
  /** How many groups stand before "::". */
  let gap = -1
  let index = 0
  while (index < text.length) {
    if (text.charCodeAt(index) === colon) {
      const isDouble = text.charCodeAt(index + 1) === colon
      // One colon stands between groups, and not at an end.
      if (isDouble ? gap >= 0 : count === 0 || index + 1 === text.length) return undefined
      if (isDouble) gap = count
      index += isDouble ? 2 : 1
      if (text.charCodeAt(index) === colon) return undefined
      continue
    }
    const end = endOfGroup(text, index)
    if (text.charCodeAt(end) === dot) {
      // Only the end of an address may be a dotted quad.
      const quad = count > 6 ? undefined : parseQuad(text, index)
      if (quad === undefined) return undefined
      groups[count++] = quad >>> 16
      groups[count++] = quad & 0xffff
      break
    }
    if (end === index || count === 8 || !isOver(text, end)) return undefined
    groups[count++] = hexOf(text, index, end)
    index = end
  }
  // "::" stands for at least one group, and without it all eight must be written.
  if (gap < 0 ? count !== 8 : count > 7) return undefined
  return joined(count, gap < 0 ? count : gap)
}

/** Whether a group is at its end: a fifth digit is one too many. */
function isOver(text: string, end: number): boolean {
  return end === text.length || text.charCodeAt(end) === colon
}

/** Where the hexadecimal digits end that start there: four at most. */
function endOfGroup(text: string, start: number): number {
  let end = start
  while (end < start + 4 && digitOf(text.charCodeAt(end)) >= 0) end++
  return end
}

/** The value of a hexadecimal digit; -1 for what is none. */
function digitOf(code: number): number {
  if (code >= zero && code <= zero + 9) return code - zero
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function hexOf(text: string, start: number, end: number): number {
  let value = 0
  for (let index = start; index < end; index++) value = value * 16 + digitOf(text.charCodeAt(index))
  return value
}

/** Makes the address of groups that were read, with zeros where those from `gap` on are preceded by some. */
function joined(count: number, gap: number): Ipv6 {
  const missing = 8 - count
  const groupAt = (at: number): number => {
    if (at < gap) return groups[at] ?? 0
    return at < gap + missing ? 0 : (groups[at - missing] ?? 0)
  }
  for (let word = 0; word < 4; word++) {
    const at = 6 - 2 * word
    words[word] = groupAt(at) * 0x1_0000 + groupAt(at + 1)
  }
  const [low = 0n, high = 0n] = halves
  return ((high << 64n) | low) as Ipv6
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
  halves[0] = BigInt.asUintN(64, ip)
  halves[1] = ip >> 64n
  for (let word = 0; word < 4; word++) {
    const value = words[3 - word] ?? 0
    groups[2 * word] = value >>> 16
    groups[2 * word + 1] = value & 0xffff
  }
  const run = longestZeroRun(groups)
  if (run.length < 2) return hexText(0, 8)
  return `${hexText(0, run.start)}::${hexText(run.start + run.length, 8)}`
}

function hexText(from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += at === from ? hexOfGroup(at) : `:${hexOfGroup(at)}`
  return text
}

function hexOfGroup(at: number): string {
  return (groups[at] ?? 0).toString(16)
}

/** Finds the first of the longest runs of zero groups. */
function longestZeroRun(of: Uint16Array): { readonly start: number; readonly length: number } {
  let best = 0
  let length = 0
  let start = 0
  for (let index = 0; index < of.length; index++) {
    if (of[index] !== 0) start = index + 1
    else if (index - start + 1 > length) {
      best = start
      length = index - start + 1
    }
  }
  return { start: best, length }
}

/** The address in network order: 4 or 16 bytes. */
export function ipBytes(ip: Ip): Buffer {
  if (isIpv4(ip)) {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(ip)
    return bytes
  }
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64BE(ip >> 64n, 0)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, ip), 8)
  return bytes
}

/** Moves an address by `delta`, wrapping around at both ends of its family. */
export function offsetIp<A extends Ip>(ip: A, delta: number | bigint): A
export function offsetIp(ip: Ip, delta: number | bigint): Ip {
  const sum = BigInt(ip) + BigInt(delta)
  return typeof ip === 'number'
    ? (Number(BigInt.asUintN(32, sum)) as Ipv4)
    : (BigInt.asUintN(128, sum) as Ipv6)
}

/** A name or address as the host of a URL, where IPv6 addresses are in brackets (RFC 3986, 3.2.2). */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
