import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mapOf } from './column-type.ts'
import { countEntries, nextVersion } from './map-versions.ts'
import type { Atom } from './types.ts'

type Entries = Readonly<Record<string, Atom>>

const names = [...Array.from({ length: 300 }, (_, n) => `10.0.0.1:${n}`), 'constructor', '__proto__', '7']
const start = names.map((name): [string, Atom] => [name, 'first'])

const changes = fc.array(
  fc.dictionary(fc.constantFrom(...names.slice(-6), 'new', 'newer'), fc.constantFrom('first', 'a', 'b'), {
    noNullPrototype: true,
  }),
  { maxLength: 100 },
)

function plainNext(old: ReadonlyMap<string, Atom>, difference: Entries): ReadonlyMap<string, Atom> {
  const next = new Map(old)
  for (const [key, value] of Object.entries(difference)) {
    if (old.get(key) === value) next.delete(key)
    else next.set(key, value)
  }
  return next
}

it('every version of a large map stays what it was, however it is read', () => {
  const readers = fc.array(fc.constantFrom('get', 'keys', 'branch'), { minLength: 100, maxLength: 100 })
  fc.assert(
    fc.property(changes, readers, (differences, how) => {
      let map: Entries = mapOf(start)
      let plain: ReadonlyMap<string, Atom> = new Map(start)
      const seen = [{ map, plain }]
      for (const [n, difference] of differences.entries()) {
        if (how[n] === 'keys')
          expect(Object.keys(seen[n >> 1]?.map ?? {})).toHaveLength(seen[n >> 1]?.plain.size ?? 0)
        // What is no longer the newest may be changed again, as after a connection that broke.
        const base = how[n] === 'branch' ? (seen[n >> 1] ?? { map, plain }) : { map, plain }
        map = nextVersion(base.map, mapOf(Object.entries(difference)))
        plain = plainNext(base.plain, difference)
        seen.push({ map, plain })
      }
      for (const version of seen) {
        for (const name of [...names, 'new', 'newer', 'toString']) {
          expect(version.map[name]).toBe(version.plain.get(name))
          expect(name in version.map).toBe(version.plain.has(name))
        }
        expect(countEntries(version.map)).toBe(version.plain.size)
        expect(new Map(Object.entries(version.map))).toEqual(version.plain)
        expect({ ...version.map }).toEqual(Object.fromEntries(version.plain))
        expect(JSON.parse(JSON.stringify(version.map))).toEqual(
          JSON.parse(JSON.stringify(mapOf(version.plain))),
        )
      }
    }),
    { numRuns: 50 },
  )
})

it('no version can be written to', () => {
  const map = nextVersion(mapOf(start), mapOf([['new', 'a']]))
  expect(() => Object.assign(map, { new: 'b' })).toThrow(TypeError)
  expect(() => delete (map as Record<string, Atom>)['new']).toThrow(TypeError)
  expect(() => Object.defineProperty(map, 'other', { value: 'b' })).toThrow(TypeError)
  expect(() => Object.freeze(map)).toThrow(TypeError)
  expect(map['new']).toBe('a')
})

it('a change costs no more in a map of 50,000 entries than in one of 500', () => {
  function msOf(size: number): number {
    let map: Entries = mapOf(Array.from({ length: size }, (_, n): [string, Atom] => [`vip${n}`, 'backends']))
    map = nextVersion(map, mapOf([['vip0', 'others']]))
    let best = Infinity
    for (let round = 0; round < 10; round++) {
      const startedAt = performance.now()
      for (let n = 0; n < 100; n++) {
        const old = map
        map = nextVersion(map, mapOf([[`vip${n}`, `backends ${round}`]]))
        if (old[`vip${n}`] === map[`vip${n}`]) throw new Error('nothing has changed')
        if (countEntries(map) !== size) throw new Error('it has as many entries as before')
      }
      best = Math.min(best, performance.now() - startedAt)
    }
    return best
  }
  // Copying would take a hundred times as long.
  expect(msOf(50_000) / msOf(500)).toBeLessThan(10)
})
