import type { Mac } from '@kube-ovn/ip'

/**
 * The 48 bits of a MAC address as a number.
 *
 * Kept instead of the text, which takes five times the memory; it is printed again for whoever reads a lease.
 */
export type MacBits = number

const low = 2 ** 32
const colon = ':'.charCodeAt(0)
const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** @param upper the first 16 bits
 * @param lower the other 32 bits, of either sign */
export function macBits(upper: number, lower: number): MacBits {
  return upper * low + (lower >>> 0)
}

export function upperBits(mac: MacBits): number {
  return Math.floor(mac / low)
}

/** As a signed number. */
export function lowerBits(mac: MacBits): number {
  return mac | 0
}

/** Reads canonical text. */
export function bitsOfMac(text: Mac): MacBits {
  const upper = (byteAt(text, 0) << 8) | byteAt(text, 3)
  return macBits(
    upper,
    (byteAt(text, 6) << 24) | (byteAt(text, 9) << 16) | (byteAt(text, 12) << 8) | byteAt(text, 15),
  )
}

/** Prints canonical text. */
export function macText(mac: MacBits): Mac {
  return macOfBits(upperBits(mac), lowerBits(mac))
}

/** The same of both parts; in one piece, as joining more would take the time of all else in an allocation together. */
export function macOfBits(upper: number, lower: number): Mac {
  return String.fromCharCode(
    digit(upper >>> 12),
    digit(upper >>> 8),
    colon,
    digit(upper >>> 4),
    digit(upper),
    colon,
    digit(lower >>> 28),
    digit(lower >>> 24),
    colon,
    digit(lower >>> 20),
    digit(lower >>> 16),
    colon,
    digit(lower >>> 12),
    digit(lower >>> 8),
    colon,
    digit(lower >>> 4),
    digit(lower),
  ) as Mac
}

function byteAt(text: string, at: number): number {
  return (valueOf(text.charCodeAt(at)) << 4) | valueOf(text.charCodeAt(at + 1))
}

/** Of a hexadecimal digit, whose letters are 9 further than the lower half of their code says. */
function valueOf(code: number): number {
  return (code & 15) + 9 * (code >>> 6)
}

function digit(value: number): number {
  return digits[value & 15] ?? 0
}
