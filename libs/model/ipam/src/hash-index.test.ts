import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HashIndex } from './hash-index.ts'

/** Few hashes of a few shapes, so that many are equal, share a shard, or are looked for at one place. */
const hash = fc.oneof(
  fc.integer({ min: -2, max: 2 }),
  fc.integer({ min: 0, max: 20 }).map((of) => of << 16),
)

type Model = ReadonlyMap<number, number>

function compare(index: HashIndex, model: Model): void {
  expect(index.size).toBe(model.size)
  expect([...index.values()].sort((a, b) => a - b)).toEqual([...model.keys()].sort((a, b) => a - b))
  for (const hash of new Set(model.values())) {
    const numbers = [...model].filter(([, of]) => of === hash).map(([number]) => number)
    const found: number[] = []
    for (let number = index.first(hash); number !== 0; number = index.next(hash, number)) found.push(number)
    expect(found).toEqual(index.all(hash))
    expect(found.toSorted((a, b) => a - b)).toEqual(numbers.sort((a, b) => a - b))
  }
  expect(index.first(0x7fff_ffff)).toBe(0)
}

it('finds what was added and not removed, and forks stay independent', () => {
  const step = fc.tuple(
    fc.constantFrom('add', 'remove', 'fork'),
    fc.integer({ min: 1, max: 200 }),
    hash,
    fc.nat(),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
      const twins = [{ index: new HashIndex(), model: new Map<number, number>() }]
      for (const [act, number, hash, chosen] of steps) {
        const twin = twins[chosen % twins.length]
        if (twin === undefined) continue
        const { index, model } = twin
        const known = model.get(number)
        if (act === 'add' && known === undefined) {
          index.add(hash, number)
          model.set(number, hash)
        } else if (act === 'remove') {
          index.remove(known ?? hash, number)
          model.delete(number)
        } else if (act === 'fork' && twins.length < 4)
          twins.push({ index: index.fork(), model: new Map(model) })
      }
      for (const { index, model } of twins) compare(index, model)
    }),
    { numRuns: 200 },
  )
})

it('finds each of very many', () => {
  const index = new HashIndex()
  const hashOf = (number: number) => Math.imul(number, 0x9e37_79b1)
  for (let number = 1; number <= 10_000; number++) index.add(hashOf(number), number)
  const twin = index.fork()
  for (let number = 1; number <= 10_000; number += 2) index.remove(hashOf(number), number)
  for (let number = 1; number <= 10_000; number++) {
    expect(index.first(hashOf(number))).toBe(number % 2 === 0 ? number : 0)
    expect(twin.first(hashOf(number))).toBe(number)
  }
})
