import type { Ipv6 } from './address.ts'
import { InvalidMacError } from './errors.ts'

declare const mac: unique symbol

/** A 48-bit MAC address in canonical text: lower case, separated by colons. */
export type Mac = string & { readonly [mac]: true }

const canonicalText = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/
const pairs = /^([0-9a-f]{2})([:-])(?:[0-9a-f]{2}\2){4}[0-9a-f]{2}$/
const dotted = /^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}$/

/**
 * Reads the three forms that Go's `net.ParseMAC` accepts for six bytes: `00:00:5e:00:53:01`,
 * `00-00-5E-00-53-01` and `0000.5e00.5301`.
 */
export function tryParseMac(text: string): Mac | undefined {
  // Nearly all are, as they were printed here.
  if (isCanonical(text)) return text
  const lower = text.toLowerCase()
  if (!pairs.test(lower) && !dotted.test(lower)) return undefined
  return canonical(lower.replaceAll(/[:.-]/g, ''))
}

/** Like {@link tryParseMac}. @throws InvalidMacError naming `field`. */
export function parseMac(text: string, field = 'mac'): Mac {
  const parsed = tryParseMac(text)
  if (parsed === undefined) {
    throw new InvalidMacError({ field, value: text, cure: 'write six bytes like 00:00:5e:00:53:01' })
  }
  return parsed
}

/** Prints six bytes as a MAC address; more or fewer are a defect of the caller. */
export function formatMac(bytes: Uint8Array): Mac {
  if (bytes.length !== 6) throw new RangeError(`a MAC address has 6 bytes, not ${bytes.length}`)
  return canonical(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''))
}

/** Six bytes, as they are sent. */
export function macBytes(address: Mac): Buffer {
  return Buffer.from(address.replaceAll(':', ''), 'hex')
}

/** Makes a unicast MAC address that is administered locally (IEEE 802) out of six bytes. */
export function localMac(bytes: Uint8Array): Mac {
  const local = Uint8Array.from(bytes)
  local[0] = ((local[0] ?? 0) | 0x02) & 0xfe
  return formatMac(local)
}

/** Makes a unicast MAC address that is administered locally out of a name, in every process the same. */
export function macFromName(name: string): Mac {
  // FNV-1a of 64 bits (RFC 9923): nobody gains anything by finding a name with the same.
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(name)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return localMac(Uint8Array.from({ length: 6 }, (_, place) => Number((hash >> BigInt(8 * place)) & 0xffn)))
}

/** The link-local address of an interface with this MAC address (RFC 4291, appendix A). */
export function linkLocalOf(mac: Mac): Ipv6 {
  const digits = BigInt(`0x${mac.replaceAll(':', '')}`)
  const [upper, lower] = [digits >> 24n, digits & 0xff_ff_ffn]
  const identifier = ((upper << 40n) | (0xff_fen << 24n) | lower) ^ (1n << 57n)
  return ((0xfe80n << 112n) | identifier) as Ipv6
}

function isCanonical(text: string): text is Mac {
  return canonicalText.test(text)
}

function canonical(hexDigits: string): Mac {
  return (hexDigits.match(/../g) ?? []).join(':') as Mac
}
