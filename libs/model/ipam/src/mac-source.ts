import type { Mac } from '@kube-ovn/ip'

const macBytes = 6
/** Asking for randomness costs more than the bytes do. */
const blockMacs = 512

const colon = ':'.charCodeAt(0)
const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Makes up MAC addresses, of random bytes that are fetched by the block. */
export class MacSource {
  readonly #random: (bytes: number) => Uint8Array
  #block: Uint8Array = new Uint8Array(0)
  #used = 0

  /** @param random gives that many random bytes */
  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random
  }

  /** A locally administered unicast address (RFC 7042, section 2.1). */
  next(): Mac {
    if (this.#used === this.#block.length) {
      this.#block = this.#random(blockMacs * macBytes)
      this.#used = 0
    }
    const at = this.#used
    this.#used += macBytes
    const bytes = this.#block
    const a = ((bytes[at] ?? 0) | 0b10) & ~0b1
    const b = bytes[at + 1] ?? 0
    const c = bytes[at + 2] ?? 0
    const d = bytes[at + 3] ?? 0
    const e = bytes[at + 4] ?? 0
    const f = bytes[at + 5] ?? 0
    // One call makes the text in one piece; joining parts would take the time of all else in an allocation together.
    return String.fromCharCode(
      high(a),
      low(a),
      colon,
      high(b),
      low(b),
      colon,
      high(c),
      low(c),
      colon,
      high(d),
      low(d),
      colon,
      high(e),
      low(e),
      colon,
      high(f),
      low(f),
    ) as Mac
  }
}

function high(byte: number): number {
  return digits[byte >>> 4] ?? 0
}

function low(byte: number): number {
  return digits[byte & 15] ?? 0
}
