import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ipv4 } from './index.ts'
import { RangeList } from './range-list.ts'

/** Puts up to two ranges in the place of up to three. */
const step = fc.record({ from: fc.nat(99), removed: fc.nat(3), added: fc.nat(2) })

describe('RangeList', () => {
  it('is what an array of ranges is, wherever it grows and shrinks', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, atFront) => {
        const list = RangeList.empty<Ipv4>()
        const plain: { first: Ipv4; last: Ipv4 }[] = []
        for (let number = 0; number < 60; number++) {
          list.append(range(number).first, range(number).last)
          plain.push(range(number))
        }
        for (const [number, { from: wish, removed, added }] of steps.entries()) {
          // Changes near the front are the frequent ones, and the ones with a way of their own.
          const from = Math.min(atFront ? wish % 4 : wish, plain.length)
          const to = Math.min(from + removed, plain.length)
          const ranges = Array.from({ length: added }, (_, index) => range(1000 + number * 2 + index))
          list.replace(from, to, ranges)
          plain.splice(from, to - from, ...ranges)
        }
        for (const held of [list, list.clone()]) {
          expect(held.length).toBe(plain.length)
          const indices = Array.from({ length: plain.length + 1 }, (_, index) => index)
          expect(indices.map((index) => held.first(index))).toEqual([
            ...plain.map(({ first }) => first),
            undefined,
          ])
          expect(indices.map((index) => held.last(index))).toEqual([
            ...plain.map(({ last }) => last),
            undefined,
          ])
          expect(held.first(-1) ?? held.last(-1)).toBeUndefined()
        }
      }),
    )
  })

  it('finds the range before an address after the lowest ones are gone', () => {
    const list = RangeList.empty<Ipv4>()
    for (let number = 0; number < 100; number++) list.append(range(number).first, range(number).last)
    for (let gone = 0; gone < 40; gone++) list.replace(0, 1, [])
    expect(list.before(range(39).first)).toBe(-1)
    expect(list.before(range(40).first)).toBe(0)
    expect(list.before((range(41).last + 1) as Ipv4)).toBe(1)
    expect(list.before(0xffff_ffff as Ipv4)).toBe(59)
  })
})

/** Ranges that are not neighbours. */
function range(number: number): { readonly first: Ipv4; readonly last: Ipv4 } {
  return { first: (number * 3) as Ipv4, last: (number * 3) as Ipv4 }
}
