/*
 * The parts of ASN.1's distinguished encoding (X.690) that a certificate is made of.
 */

/** Contents under a tag, with their length. */
export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

export const yes = Buffer.from([0x01, 0x01, 0xff])

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...items)
}

export function setOf(...items: readonly Uint8Array[]): Buffer {
  return tagged(0x31, ...items)
}

export function explicit(number: number, item: Uint8Array): Buffer {
  return tagged(0xa0 | number, item)
}

/** Big-endian, with the sign in the first bit. */
export function integer(bytes: Uint8Array): Buffer {
  return tagged(0x02, bytes)
}

export function octets(bytes: Uint8Array): Buffer {
  return tagged(0x04, bytes)
}

/** `unused` bits of the last byte do not count. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), bytes)
}

export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text))
}

/** An object identifier in dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** To the second; years up to 2049 have two digits, as RFC 5280 wants it. */
export function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]|\.\d+/g, '')
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(text.slice(2)))
    : tagged(0x18, Buffer.from(text))
}

function base128(value: number): readonly number[] {
  const groups = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) groups.unshift((rest & 0x7f) | 0x80)
  return groups
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}
