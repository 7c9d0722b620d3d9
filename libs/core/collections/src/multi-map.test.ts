import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MultiMap } from './multi-map.ts'

it('holds exactly the pairs that were added and not deleted', () => {
  const step = fc.record({ add: fc.boolean(), key: fc.nat(3), value: fc.nat(3) })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const map = new MultiMap<number, number>()
      const pairs = new Set<string>()
      for (const { add, key, value } of steps) {
        const pair = `${key}/${value}`
        const changed = add ? map.add(key, value) : map.delete(key, value)
        expect(changed).toBe(add ? !pairs.has(pair) : pairs.has(pair))
        if (add) pairs.add(pair)
        else pairs.delete(pair)
        expect(map.has(key, value)).toBe(add)
        expect(map.hasKey(key)).toBe(map.get(key).size > 0)
      }
      const held = [...map.keys()].flatMap((key) => [...map.get(key)].map((value) => `${key}/${value}`))
      expect(new Set(held)).toEqual(pairs)
      expect(held.length).toBe(pairs.size)
      expect(map.size).toBe(new Set([...pairs].map((pair) => pair.split('/')[0])).size)
    }),
  )
})

it('answers an empty set for a key without values', () => {
  const map = new MultiMap<string, string>()
  map.add('a', 'x')
  map.delete('a', 'x')
  expect(map.get('a').size).toBe(0)
  map.add('a', 'x')
  map.clear()
  expect(map.size).toBe(0)
})
