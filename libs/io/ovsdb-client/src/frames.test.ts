import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { JsonFrames } from './frames.ts'
import { parseExactly } from './integer.ts'

/** Cuts a buffer at the given places, wherever in a character they fall. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

function messagesIn(chunks: readonly Buffer[], frames = new JsonFrames(JSON.parse)): readonly unknown[] {
  return chunks.flatMap((chunk) => [...frames.push(chunk)])
}

describe('JsonFrames', () => {
  it('finds the same messages however the stream is cut', () => {
    const message = fc.oneof(
      fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
      fc.array(fc.jsonValue()),
    )
    const space = fc.constantFrom('', ' ', '\n', '\r\n\t')
    fc.assert(
      fc.property(
        fc.array(fc.tuple(message, space)),
        fc.array(fc.nat(), { maxLength: 40 }),
        (stream, places) => {
          const bytes = Buffer.from(stream.map(([value, gap]) => JSON.stringify(value) + gap).join(''))
          expect(messagesIn(cut(bytes, places))).toEqual(
            stream.map(([value]) => JSON.parse(JSON.stringify(value))),
          )
        },
      ),
    )
  })

  it('takes a message byte by byte, with brackets and escapes in strings', () => {
    const message = { 'a{[': 'quote " backslash \\ ]}', nested: [[{ ü: '\u{1f600}' }]] }
    const bytes = Buffer.from(JSON.stringify(message))
    const places = Array.from(bytes, (_, index) => index)
    expect(messagesIn(cut(bytes, places))).toEqual([message])
  })

  it('shows each message before it looks at what follows', () => {
    const frames = new JsonFrames(JSON.parse)
    const messages = frames.push(Buffer.from('{"a":1}{"b":2}nonsense'))
    expect([messages.next().value, messages.next().value]).toEqual([{ a: 1 }, { b: 2 }])
    expect(() => messages.next()).toThrow(ProtocolError)
  })

  it('copies a large message once, however many chunks it comes in', () => {
    // 64 MiB in 16 384 chunks: copying all that came before with each chunk would move half a terabyte.
    const frames = new JsonFrames(JSON.parse)
    const chunk = Buffer.alloc(4096, 'x')
    expect(messagesIn([Buffer.from('["')], frames)).toEqual([])
    for (let count = 0; count < 16_384; count++) messagesIn([chunk], frames)
    const [found] = messagesIn([Buffer.from('"]')], frames) as [[string]]
    expect(found[0]).toHaveLength(4096 * 16_384)
  })

  it.each([
    ['short', 0],
    ['long', 2 ** 17],
  ])('refuses a %s message that is not UTF-8', (_name, length) => {
    const bytes = Buffer.from(JSON.stringify({ a: ['x'.repeat(length), 'ü'] }))
    const at = bytes.lastIndexOf('ü')
    expect(() => messagesIn([Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at + 2)])])).toThrow(
      ProtocolError,
    )
    expect(messagesIn([bytes])).toHaveLength(1)
  })

  it('gives the text of a message to the parser it was made with', () => {
    expect(messagesIn([Buffer.from('[9007199254740993]')], new JsonFrames(parseExactly))).toEqual([[9007199254740993n]]) // prettier-ignore
  })

  it('finds messages in any bytes, or refuses them', () => {
    const jsonLike = fc
      .array(fc.constantFrom(...'{ } [ ] , : " \\ 0 a'.split(' '), ' ', 'é'))
      .map((all) => all.join(''))
    const bytes = fc.oneof(
      fc.uint8Array().map((all) => Buffer.from(all)),
      jsonLike.map((text) => Buffer.from(text)),
    )
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 5 }), (all, places) => {
        const frames = new JsonFrames(JSON.parse)
        try {
          for (const message of messagesIn(cut(all, places), frames)) expect(message).toBeTypeOf('object')
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    'HTTP/1.1 400 Bad Request',
    '{}{}x',
    ']',
    '{"a":}',
    '"text"',
    '[1}',
    '['.repeat(2000),
    '{"a":'.repeat(2000),
  ])('refuses %.20j', (text) => {
    expect(() => messagesIn([Buffer.from(text)])).toThrow(ProtocolError)
  })
})
