import { macBits, type MacBits } from './mac-bits.ts'

const macBytes = 6
/** Asking for randomness costs more than the bytes do. */
const blockMacs = 512

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
  next(): MacBits {
    if (this.#used === this.#block.length) {
      this.#block = this.#random(blockMacs * macBytes)
      this.#used = 0
    }
    const bytes = this.#block
    const at = this.#used
    this.#used += macBytes
    const byte = (offset: number) => bytes[at + offset] ?? 0
    const first = (byte(0) | 0b10) & ~0b1
    return macBits((first << 8) | byte(1), (byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5))
  }
}
