/** Spreads the characters of a text over 32 bits, four at a time: names are long, and each multiplication waits for the last. */
export function hashText(text: string): number {
  const { length } = text
  let hash = length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8)
    const high = text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 8)
    hash = Math.imul(hash ^ low ^ (high << 16), 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  for (; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193)
  return mix(hash)
}

/** Of up to 53 bits all count. */
export function hashNumber(value: number): number {
  return mix((value | 0) ^ Math.imul(value / 2 ** 32, 0x9e37_79b1))
}

/** Two /64 that are used alike differ in the upper half only, so it counts too. */
export function hashBigint(value: bigint): number {
  const low = BigInt.asUintN(64, value)
  const lower = Number(BigInt.asUintN(32, low))
  const upper = Number(BigInt.asUintN(32, low >> 32n)) ^ Number(BigInt.asUintN(32, value >> 64n))
  return mix(lower ^ Math.imul(upper, 0x9e37_79b1))
}

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return mixed ^ (mixed >>> 16)
}
