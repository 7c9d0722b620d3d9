import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ForkableMap } from './forkable-map.ts'

const key = fc.oneof(
  fc.nat(200),
  fc.bigInt({ min: 0n, max: 200n }),
  fc.nat(200).map((number) => `pod-${number}.shop`),
)
const step = fc.record({
  pick: fc.nat(),
  do: fc.oneof({ weight: 6, arbitrary: fc.constant('set') }, fc.constantFrom('delete', 'fork')),
  key,
  value: fc.nat(),
})

describe('ForkableMap', () => {
  it('and its forks hold what copied maps hold', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const pairs = [
          { map: new ForkableMap<number | bigint | string, number>(), plain: new Map<unknown, number>() },
        ]
        for (const { pick, do: verb, key, value } of steps) {
          const pair = pairs[pick % pairs.length]
          if (pair === undefined) continue
          if (verb === 'fork') pairs.push({ map: pair.map.fork(), plain: new Map(pair.plain) })
          else if (verb === 'delete') expect(pair.map.delete(key)).toBe(pair.plain.delete(key))
          else {
            pair.map.set(key, value)
            pair.plain.set(key, value)
          }
        }
        for (const { map, plain } of pairs) {
          expect(new Map(map.entries())).toEqual(plain)
          expect([...map.values()].sort()).toEqual([...plain.values()].sort())
          for (const { key } of steps) {
            expect(map.get(key)).toBe(plain.get(key))
            expect(map.has(key)).toBe(plain.has(key))
          }
        }
      }),
    )
  })
})
