import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { JsonFrames } from './frames.ts'
import { LongMessage, type Path, type TakeMembers } from './long-message.ts'

const nothing: TakeMembers = () => false

/** Gives a text to a {@link LongMessage} in chunks, and answers the message and how many bytes were its own. */
function read(text: string, chunkBytes: number, take = nothing): { message: unknown; bytes: number } {
  const long = new LongMessage(JSON.parse, take)
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    const end = long.push(bytes.subarray(from, from + chunkBytes), 0)
    if (end >= 0) return { message: long.message, bytes: from + end }
  }
  throw new TypeError('the message has no end')
}

/** `undefined` when the message is refused, or has no end. */
function attempt(text: string, chunkBytes: number): { message: unknown; bytes: number } | undefined {
  try {
    return read(text, chunkBytes)
  } catch (error) {
    if (error instanceof ProtocolError || error instanceof TypeError) return undefined
    throw error
  }
}

const space = fc.constantFrom('', ' ', '\n', '\r\n\t')

/** JSON with white space wherever it may be. */
function spaced(value: unknown, gap: string): string {
  const inner = (one: unknown): string => spaced(one, gap)
  if (Array.isArray(value)) return `${gap}[${value.map(inner).join(',')}${gap}]${gap}`
  if (typeof value !== 'object' || value === null) return `${gap}${JSON.stringify(value)}${gap}`
  const members = Object.entries(value).map(
    ([key, one]) => `${gap}${JSON.stringify(key)}${gap}:${inner(one)}`,
  )
  return `${gap}{${members.join(',')}${gap}}${gap}`
}

const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 7 },
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('1', '__proto__', '')),
      tie('json'),
      {
        maxKeys: 4,
      },
    ),
  ),
}))
const container = json.filter((value) => typeof value === 'object' && value !== null)

/** Text that is a message, or nearly one. */
const almost = fc
  .tuple(
    container,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{ } [ ] , : " \\ 0 e -'.split(' '), ' ')), {
      maxLength: 3,
    }),
  )
  .map(([value, edits]) => {
    let text = JSON.stringify(value)
    for (const [place, character] of edits) {
      const at = place % (text.length + 1)
      text = text.slice(0, at) + character + text.slice(place % 2 === 0 ? at : at + 1)
    }
    return text
  })

describe('LongMessage', () => {
  it('is what the parser makes of the whole text, however it is cut', () => {
    fc.assert(
      fc.property(container, space, fc.integer({ min: 1, max: 40 }), (value, gap, chunkBytes) => {
        const text = spaced(value, gap).trimStart()
        const { message, bytes } = read(text, chunkBytes)
        expect(message).toEqual(JSON.parse(text))
        expect(bytes).toBe(Buffer.byteLength(text.trimEnd()))
      }),
      { numRuns: 500 },
    )
  })

  it('refuses what the parser refuses', () => {
    fc.assert(
      fc.property(almost, fc.integer({ min: 1, max: 40 }), (text, chunkBytes) => {
        fc.pre(/^[[{]/.test(text))
        const found = attempt(text, chunkBytes)
        if (found === undefined) {
          expect(() => JSON.parse(text)).toThrow(SyntaxError)
          return
        }
        // What follows the message is the affair of the next one.
        const own = Buffer.from(text).toString('utf8', 0, found.bytes)
        expect(found.message).toEqual(JSON.parse(own))
      }),
      { numRuns: 1000 },
    )
  })

  it.each(['[1,]', '[,1]', '{"a":1,}', '[[[[1,]]]]', '[[],]', '[[]1]', '[[][]]', '{"a":1{}}', '{"a" []}', '{"a":-[]}', '{[]}', '[1[]]', '[1}', '{"a":1]', '[1 2]', '{1:[]}'])(
    'refuses %s',
    (text) => expect(() => read(text, 1)).toThrow(ProtocolError),
  ) // prettier-ignore

  it('does not collect text without end', () => {
    const long = new LongMessage(JSON.parse, nothing)
    long.push(Buffer.from('["'), 0)
    const chunk = Buffer.alloc(2 ** 20, 'x')
    expect(() => {
      for (;;) long.push(chunk, 0)
    }).toThrow(ProtocolError)
  })
})

/** A dump of so many rows, as ovsdb-server answers `monitor_cond_since`. */
function dump(rows: number): object {
  const row = (index: number): object => ({
    initial: { name: `port ${index} ü {[`, up: true, tags: ['map', [['a"\\', String(index)]]] },
  })
  const table = Object.fromEntries(Array.from({ length: rows }, (_, index) => [`uuid-${index}`, row(index)]))
  return { id: 7, result: [false, 'transaction', { Port: table, Other: {} }], error: null }
}

describe('members that are taken', () => {
  const bytes = Buffer.from(JSON.stringify(dump(8_000)))

  it('are shown in time, with what came before, and left out', () => {
    const shown: [object, Path, number][] = []
    const rows = {}
    const frames = new JsonFrames(JSON.parse, (message, path, members) => {
      shown.push([structuredClone(message), path, Object.keys(members).length])
      Object.assign(rows, members)
      return true
    })
    const messages: unknown[] = []
    const progress: number[] = []
    for (let from = 0; from < bytes.length; from += 65_536) {
      messages.push(...frames.push(bytes.subarray(from, from + 65_536)))
      progress.push(Object.keys(rows).length)
    }
    expect(messages).toEqual([
      { id: 7, result: [false, 'transaction', { Port: {}, Other: {} }], error: null },
    ])
    expect(rows).toEqual((dump(8_000) as { result: [false, string, { Port: object }] }).result[2].Port)
    expect(new Set(shown.map(([, path]) => path.join('.')))).toEqual(new Set(['result.2.Port']))
    expect(shown[0]?.[0]).toEqual({ id: 7, result: [false, 'transaction', { Port: {} }] })
    // No turn of the event loop has more to do than a chunk is long.
    expect(Math.max(...shown.map(([, , count]) => count))).toBeLessThan(1000)
    expect(progress.every((count, index) => count > (progress[index - 1] ?? -1) || count === 8_000)).toBe(
      true,
    )
  })

  it.each([1000, 65_536, 1_000_000])(
    'are parsed once, and no more than arrived, in chunks of %i',
    (chunkBytes) => {
      const lengths: number[] = []
      const parse = (text: string): unknown => {
        lengths.push(text.length)
        return JSON.parse(text)
      }
      const frames = new JsonFrames(parse, () => true)
      for (let from = 0; from < bytes.length; from += chunkBytes) {
        Array.from(frames.push(bytes.subarray(from, from + chunkBytes)))
      }
      expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(bytes.length * 1.01)
      expect(Math.max(...lengths)).toBeLessThan(chunkBytes + 2 ** 17)
      // Small chunks do not mean many small texts.
      expect(lengths.length).toBeLessThan(bytes.length / 2 ** 14 + 20)
    },
  )
})
