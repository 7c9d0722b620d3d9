import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { JsonFrames } from './frames.ts'

/** Cuts a buffer at the given places, wherever in a character they fall. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
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
          const frames = new JsonFrames(JSON.parse)
          const found = cut(bytes, places).flatMap((chunk) => frames.push(chunk))
          expect(found).toEqual(stream.map(([value]) => JSON.parse(JSON.stringify(value))))
        },
      ),
    )
  })

  it('takes a message byte by byte, with brackets and escapes in strings', () => {
    const message = { 'a{[': 'quote " backslash \\ ]}', nested: [[{ ü: '\u{1f600}' }]] }
    const frames = new JsonFrames(JSON.parse)
    const found = [...Buffer.from(JSON.stringify(message))].flatMap((byte) =>
      frames.push(Buffer.from([byte])),
    )
    expect(found).toEqual([message])
  })

  it('copies a large message once, however many chunks it comes in', () => {
    // 64 MiB in 16 384 chunks: copying all that came before with each chunk would move half a terabyte.
    const frames = new JsonFrames(JSON.parse)
    const chunk = Buffer.alloc(4096, 'x')
    expect(frames.push(Buffer.from('["'))).toEqual([])
    for (let count = 0; count < 16_384; count++) frames.push(chunk)
    const [found] = frames.push(Buffer.from('"]')) as [[string]]
    expect(found[0]).toHaveLength(4096 * 16_384)
  })

  it.each(['HTTP/1.1 400 Bad Request', '{}{}x', ']', '{"a":}', '"text"', '[1}'])('refuses %j', (text) => {
    expect(() => new JsonFrames(JSON.parse).push(Buffer.from(text))).toThrow(ProtocolError)
  })
})
