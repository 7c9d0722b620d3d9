import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapOf, type ColumnType } from './column-type.ts'
import type { Atom, Value } from './types.ts'
import { applyDifference, compareAtoms, compareSets, hasElement, sameValue } from './value.ts'

const setType: ColumnType = { shape: 'set', atom: 'integer', isOptional: true }
const mapType: ColumnType = {
  shape: 'map',
  key: 'string',
  value: 'integer',
  isOptional: true,
  isSingular: false,
}
const singularMapType: ColumnType = { ...mapType, isSingular: true }
const singleType: ColumnType = { shape: 'single', atom: 'integer', isOptional: true }

const sets = fc
  .uniqueArray(fc.integer({ min: 0, max: 20 }))
  .map((atoms): readonly Atom[] => atoms.sort(compareAtoms))
const maps = fc
  .dictionary(fc.constantFrom('a', 'b', 'constructor', '__proto__', '7'), fc.integer({ min: 0, max: 2 }))
  .map((map) => mapOf(Object.entries(map)))

/** What a server sends: ovsdb_datum_diff() of lib/ovsdb-data.c, written the slow and obvious way. */
function difference(type: ColumnType, a: Value, b: Value): Value {
  if (type.shape === 'single' || (type.shape === 'map' && type.isSingular)) return b
  if (type.shape === 'set') {
    const [before, after] = [new Set(a as readonly Atom[]), new Set(b as readonly Atom[])]
    return [...before.symmetricDifference(after)].sort(compareAtoms)
  }
  const [before, after] = [new Map(Object.entries(a as object)), new Map(Object.entries(b as object))]
  const removed = [...before].filter(([key]) => !after.has(key))
  const written = [...after].filter(([key, value]) => before.get(key) !== value)
  return mapOf([...removed, ...written])
}

describe('applyDifference', () => {
  it.each<{ name: string; type: ColumnType; values: fc.Arbitrary<Value> }>([
    { name: 'sets', type: setType, values: sets },
    { name: 'maps', type: mapType, values: maps },
    { name: 'maps of one entry', type: singularMapType, values: maps },
    { name: 'single values', type: singleType, values: fc.option(fc.integer(), { nil: undefined }) },
  ])('turns the old into the new value: $name', ({ type, values }) => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const result = applyDifference(type, a, difference(type, a, b))
        expect(result).toEqual(b)
        expect(sameValue(result, b)).toBe(true)
      }),
    )
  })

  it('leaves the old value as it was', () => {
    const set = Object.freeze([1, 2])
    const map = Object.freeze(mapOf([['a', 1]]))
    expect(applyDifference(setType, set, [2, 3])).toEqual([1, 3])
    expect(applyDifference(mapType, map, mapOf([['a', 2]]))).toEqual({ a: 2 })
  })
})

describe('sameValue', () => {
  it.each<[Value, Value]>([
    [1, 2],
    [undefined, ''],
    [undefined, []],
    [[1], [1, 2]],
    [['a'], 'a'],
    [[], {}],
    [mapOf([['a', 1]]), mapOf([['b', 1]])],
    [mapOf([['a', 1]]), mapOf([['a', 2]])],
    [mapOf([]), mapOf([['a', 2]])],
  ])('tells %j from %j', (a, b) => {
    expect(sameValue(a, b)).toBe(false)
    expect(sameValue(b, a)).toBe(false)
  })
})

it('hasElement tells what is in a set', () => {
  fc.assert(
    fc.property(sets, (set) => {
      for (let atom = -1; atom <= 21; atom++) expect(hasElement(set, atom)).toBe(set.includes(atom))
    }),
  )
})

it('compareSets visits each atom that only one set contains', () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const onlyA: Atom[] = []
      const onlyB: Atom[] = []
      compareSets(
        a,
        b,
        (atom) => onlyA.push(atom),
        (atom) => onlyB.push(atom),
      )
      expect(onlyA).toEqual(a.filter((atom) => !b.includes(atom)))
      expect(onlyB).toEqual(b.filter((atom) => !a.includes(atom)))
    }),
  )
})
