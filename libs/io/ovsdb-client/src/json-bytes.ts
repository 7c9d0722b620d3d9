import { isUtf8 } from 'node:buffer'
import { ProtocolError } from './errors.ts'

/** The bytes of JSON's structure. In UTF-8 they stand for nothing else, not even as part of a longer character. */
export const quote = 0x22
export const comma = 0x2c
export const openBracket = 0x5b
const backslash = 0x5c
export const closeBracket = 0x5d
export const openBrace = 0x7b
export const closeBrace = 0x7d

/** The nesting beyond which ovsdb-server, too, refuses JSON (`JSON_MAX_HEIGHT` in OVS' lib/json.c). */
export const maxDepth = 1000

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Reads UTF-8. Throws {@link ProtocolError} where `Buffer.toString` would put replacement characters in silence. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ProtocolError('message is not UTF-8', bytes.toString('latin1', 0, 400))
  return bytes.toString('utf8')
}

/** Finds the ends of strings, which may lie in a later chunk than their beginnings. */
export class StringScan {
  isInside = false
  #isEscaped = false

  /** Answers the position behind the string that is open at `from`, or the chunk's length when it goes on. */
  skip(chunk: Buffer, from: number): number {
    const { length } = chunk
    let isEscaped = this.#isEscaped
    let position = from
    while (position < length && this.isInside) {
      const byte = chunk[position]
      position++
      if (isEscaped) isEscaped = false
      else if (byte === quote) this.isInside = false
      else if (byte === backslash) isEscaped = true
    }
    this.#isEscaped = isEscaped
    return position
  }
}
