import { ProtocolError } from './errors.ts'
import {
  closeBrace,
  closeBracket,
  decodeText,
  isSpace,
  maxDepth,
  openBrace,
  openBracket,
  quote,
  StringScan,
} from './json-bytes.ts'
import { LongMessage, type TakeMembers } from './long-message.ts'

/** A message that is longer is parsed while it arrives. */
const longBytes = 2 ** 16

/**
 * Cuts a stream of JSON objects into messages.
 *
 * OVSDB puts messages one after the other with nothing but, perhaps, white space between them (RFC 7047, section
 * 4), so an end is where the brackets are balanced. Every byte is copied at most once, however the stream is cut into
 * chunks.
 */
export class JsonFrames {
  readonly #parse: (text: string) => unknown
  readonly #take: TakeMembers
  #string = new StringScan()
  #depth = 0
  #parts: Buffer[] = []
  #partBytes = 0
  #long: LongMessage | undefined

  /** `parse` is `JSON.parse`, or something slower that keeps all digits of integers. */
  constructor(parse: (text: string) => unknown, take: TakeMembers = () => false) {
    this.#parse = parse
    this.#take = take
  }

  /** Takes the next chunk and answers the messages that it completes, each before looking at what follows it. */
  *push(chunk: Buffer): Generator<unknown, void> {
    let start = 0
    while (start < chunk.length) {
      if (this.#long === undefined && this.#depth === 0) {
        start = skipSpace(chunk, start)
        if (start === chunk.length) return
      }
      const end = this.#long === undefined ? this.#findEnd(chunk, start) : this.#long.push(chunk, start)
      if (end < 0) {
        if (this.#long === undefined) this.#keep(chunk.subarray(start))
        return
      }
      const message =
        this.#long === undefined ? this.#complete(chunk.subarray(start, end)) : this.#long.message
      this.#long = undefined
      start = end
      yield message
    }
  }

  /** The position behind the end of the message, or -1. */
  #findEnd(chunk: Buffer, from: number): number {
    const { length } = chunk
    let depth = this.#depth
    let position = from
    while (position < length) {
      if (this.#string.isInside) {
        position = this.#string.skip(chunk, position)
        continue
      }
      const byte = chunk[position]
      position++
      if (byte === openBrace || byte === openBracket) {
        depth++
        if (depth > maxDepth) throw new ProtocolError('message is nested too deeply', `${maxDepth} levels`)
      } else if (depth === 0) {
        throw new ProtocolError('text between messages', chunk.toString('utf8', position - 1))
      } else if (byte === quote) {
        this.#string.isInside = true
      } else if (byte === closeBrace || byte === closeBracket) {
        depth--
        if (depth === 0) break
      }
    }
    this.#depth = depth
    return depth === 0 ? position : -1
  }

  #complete(last: Buffer): unknown {
    const bytes = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#forget()
    const text = decodeText(bytes)
    try {
      return this.#parse(text)
    } catch (cause) {
      throw new ProtocolError('message is not JSON', text, cause)
    }
  }

  #keep(part: Buffer): void {
    this.#parts.push(part)
    this.#partBytes += part.length
    if (this.#partBytes < longBytes) return
    this.#long = new LongMessage(this.#parse, this.#take)
    for (const one of this.#parts) this.#long.push(one, 0)
    this.#forget()
  }

  #forget(): void {
    this.#parts = []
    this.#partBytes = 0
    this.#depth = 0
    this.#string = new StringScan()
  }
}

function skipSpace(chunk: Buffer, from: number): number {
  let position = from
  while (isSpace(chunk[position])) position++
  return position
}
