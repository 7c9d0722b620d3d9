import { ProtocolError } from './errors.ts'

const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Cuts a stream of JSON objects into messages.
 *
 * OVSDB puts messages one after the other with nothing but, perhaps, white space between them (RFC 7047, section
 * 4), so an end is where the brackets are balanced. Every byte is looked at once and copied at most once,
 * however the stream is cut into chunks. UTF-8 needs no attention: bytes of a longer sequence are never ASCII.
 */
export class JsonFrames {
  #parts: Buffer[] = []
  #depth = 0
  #isInString = false
  #isEscaped = false
  readonly #parse: (text: string) => unknown

  /** `parse` is `JSON.parse`, or something slower that keeps all digits of integers. */
  constructor(parse: (text: string) => unknown) {
    this.#parse = parse
  }

  /** Takes the next chunk and answers the messages that it completes, parsed. */
  push(chunk: Buffer): readonly unknown[] {
    const messages: unknown[] = []
    let start = 0
    let position = 0
    while (position < chunk.length) {
      const byte = chunk[position]
      position++
      if (this.#isEscaped) {
        this.#isEscaped = false
      } else if (this.#isInString) {
        if (byte === quote) this.#isInString = false
        else if (byte === backslash) this.#isEscaped = true
      } else if (byte === quote && this.#depth > 0) {
        this.#isInString = true
      } else if (byte === openBrace || byte === openBracket) {
        this.#depth++
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth--
        if (this.#depth > 0) continue
        const message = chunk.subarray(start, position)
        start = position
        messages.push(this.#complete(message))
      } else if (this.#depth === 0 && !isSpace(byte)) {
        throw new ProtocolError('text between messages', chunk.toString('utf8', position - 1))
      }
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start))
    return messages
  }

  #complete(last: Buffer): unknown {
    const bytes = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.#depth = 0
    const text = bytes.toString('utf8')
    try {
      return this.#parse(text)
    } catch (cause) {
      throw new ProtocolError('message is not JSON', text, cause)
    }
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
