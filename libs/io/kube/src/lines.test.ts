import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readLines } from './lines.ts'

async function* split(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  for (const [index, place] of places.entries())
    yield await Promise.resolve(bytes.subarray(place, places[index + 1]))
}

it('yields the same lines however the bytes are cut, even within a character', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''))
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), fc.string(), async (lines, cuts, unfinished) => {
      const text = `${lines.map((one) => `${one}\n`).join('')}${unfinished.replaceAll('\n', '')}`
      const read = await Array.fromAsync(readLines(split(Buffer.from(text), cuts)))
      expect(read).toEqual(lines.filter((one) => one !== ''))
    }),
  )
})
