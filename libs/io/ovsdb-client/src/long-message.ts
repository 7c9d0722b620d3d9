import { ProtocolError } from './errors.ts'
import {
  closeBrace,
  closeBracket,
  comma,
  decodeText,
  maxDepth,
  openBrace,
  openBracket,
  quote,
  StringScan,
} from './json-bytes.ts'

/** Where something is in a message: keys of objects and indexes of arrays, from the outside in. */
export type Path = readonly (string | number)[]

/**
 * Is shown some of the members of a container that is {@link memberDepth} levels down, as soon as they have arrived.
 *
 * `message` is what has come before. Members that it takes, by answering `true`, are left out of the message.
 */
export type TakeMembers = (message: object, path: Path, members: object) => boolean

/** So far down are the rows of a table: message, its parameters or result, tables, table. */
const memberDepth = 4

/** So long is a text at least that is parsed before its container ends: then the number of texts does not matter. */
const batchBytes = 2 ** 14

/** So long is a text at most that cannot be divided: no row of OVSDB comes near it. */
const maxTextBytes = 2 ** 28

interface Container {
  readonly value: unknown[] | Record<string, unknown>
  readonly closer: number
  readonly path: Path
}

/**
 * One message that is parsed while it arrives: it costs neither a long turn of the event loop nor memory for its text.
 *
 * The outermost levels are put together here. The members of a container further in go to the parser some at a time,
 * each as a whole. The result is what the parser would make of the message.
 */
export class LongMessage {
  readonly #parse: (text: string) => unknown
  readonly #take: TakeMembers
  readonly #string = new StringScan()
  /** From the outside in, down to {@link memberDepth}. */
  readonly #open: Container[] = []
  #message: object = {}
  #depth = 0
  /** What may come next in the innermost open container. */
  #next: 'member or end' | 'member' | 'comma or end' = 'member'
  /** Text of earlier chunks that has not been parsed yet. */
  #parts: Buffer[] = []
  #partBytes = 0

  constructor(parse: (text: string) => unknown, take: TakeMembers) {
    this.#parse = parse
    this.#take = take
  }

  /** Complete once {@link push} has found the end. */
  get message(): object {
    return this.#message
  }

  /** Takes the bytes of a chunk from a position on. Answers the position behind the end of the message, or -1. */
  push(chunk: Buffer, from: number): number {
    const { length } = chunk
    let depth = this.#depth
    let position = from
    /** Where the text begins that has not been parsed. */
    let start = from
    /** Behind the last comma between members that are parsed together. */
    let cut = from
    while (position < length) {
      if (this.#string.isInside) {
        position = this.#string.skip(chunk, position)
        continue
      }
      const byte = chunk[position]
      position++
      if (byte === quote) {
        this.#string.isInside = true
      } else if (byte === comma) {
        if (depth === memberDepth) cut = position
        if (depth >= memberDepth) continue
        this.#endMember(this.#text(chunk, start, position - 1))
        start = position
      } else if (byte === openBrace || byte === openBracket) {
        depth++
        if (depth > maxDepth) throw new ProtocolError('message is nested too deeply', `${maxDepth} levels`)
        if (depth > memberDepth) continue
        this.#enter(byte, this.#text(chunk, start, position - 1))
        start = position
      } else if (byte === closeBrace || byte === closeBracket) {
        depth--
        if (depth >= memberDepth) continue
        this.#leave(byte, this.#text(chunk, start, position - 1))
        start = position
        if (depth === 0) return position
      }
    }
    this.#depth = depth
    if (cut > start && this.#partBytes + cut - start > batchBytes) {
      this.#endMember(this.#text(chunk, start, cut - 1))
      start = cut
    }
    this.#keep(chunk.subarray(start))
    return -1
  }

  #enter(opener: number, text: string): void {
    const parent = this.#open.at(-1)
    if (this.#next === 'comma or end') throw malformed(text)
    const isObject = opener === openBrace
    // Without a prototype, so that `__proto__` is a key like any other.
    const value = isObject ? (Object.create(null) as Record<string, unknown>) : []
    let path: Path = []
    if (parent === undefined) {
      this.#message = value
    } else if (Array.isArray(parent.value)) {
      expectBlank(text)
      path = [...parent.path, parent.value.length]
      parent.value.push(value)
    } else {
      const [key = ''] = Object.keys(this.#parsed(`{${text}[]}`))
      path = [...parent.path, key]
      parent.value[key] = value
    }
    this.#open.push({ value, closer: isObject ? closeBrace : closeBracket, path })
    this.#next = 'member or end'
  }

  #endMember(text: string): void {
    if (this.#next === 'comma or end') expectBlank(text)
    else this.#add(text)
    this.#next = 'member'
  }

  #leave(closer: number, text: string): void {
    if (this.#open.at(-1)?.closer !== closer) throw malformed(text)
    if (this.#next === 'member' || !isBlank(text)) this.#endMember(text)
    this.#open.pop()
    this.#next = 'comma or end'
  }

  /** Adds members to the innermost open container. */
  #add(text: string): void {
    const container = this.#open.at(-1)
    if (container === undefined || isBlank(text)) throw malformed(text)
    const { value, path } = container
    const members = this.#parsed(Array.isArray(value) ? `[${text}]` : `{${text}}`)
    if (path.length === memberDepth - 1 && this.#take(this.#message, path, members)) return
    if (Array.isArray(value)) for (const member of members as readonly unknown[]) value.push(member)
    else Object.assign(value, members)
  }

  #parsed(text: string): object {
    try {
      return this.#parse(text) as object
    } catch (cause) {
      throw malformed(text, cause)
    }
  }

  /** Text that has not been parsed, up to a position. */
  #text(chunk: Buffer, start: number, end: number): string {
    if (this.#parts.length === 0) return decodeText(chunk.subarray(start, end))
    const bytes = Buffer.concat([...this.#parts, chunk.subarray(start, end)])
    this.#parts = []
    this.#partBytes = 0
    return decodeText(bytes)
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#parts.push(part)
    this.#partBytes += part.length
    if (this.#partBytes > maxTextBytes) {
      throw new ProtocolError('message has a part that is too long', `${this.#partBytes} bytes`)
    }
  }
}

function expectBlank(text: string): void {
  if (!isBlank(text)) throw malformed(text)
}

function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text)
}

function malformed(text: string, cause?: unknown): ProtocolError {
  return new ProtocolError('message is not JSON', text, cause)
}
