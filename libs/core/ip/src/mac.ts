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

function isCanonical(text: string): text is Mac {
  return canonicalText.test(text)
}

function canonical(hexDigits: string): Mac {
  return (hexDigits.match(/../g) ?? []).join(':') as Mac
}
