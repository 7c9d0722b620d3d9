import { describe, expect, it } from 'vitest'
import { contend, type EntryLookup } from './contention.ts'
import type { MapMember } from './feature.ts'

const lb = { kind: 'lb', id: 'web' }
function entry(key: string, value: string): MapMember {
  return { of: lb, column: 'vips', key, value }
}

function wants(wanted: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  return Object.entries(wanted).map(([owner, entries]) => ({
    owner,
    desired: { rows: [], members: Object.entries(entries).map(([key, value]) => entry(key, value)) },
  }))
}

interface Known {
  readonly claims?: Readonly<Record<string, string>>
  readonly database?: Readonly<Record<string, string>>
  readonly unheard?: string
}

/** All that is known is about the key `a` of the map. */
function lookup({ claims = {}, database = {}, unheard }: Known): EntryLookup {
  return {
    claimsOn: (place) => new Map(place.endsWith('\na') ? Object.entries(claims) : []),
    compare({ key, value }) {
      const found = database[key]
      return found === undefined ? 'absent' : found === value ? 'equal' : 'different'
    },
    unheard: () => unheard,
  }
}

function shown(wanted: Parameters<typeof wants>[0], known: Known) {
  const lacks = contend(wants(wanted), lookup(known))
  return Object.fromEntries(
    [...lacks].map(([owner, list]) => [
      owner,
      list.map(({ entry: { key }, holder, unheard }) => `${key} ${holder ?? `unheard ${unheard}`}`),
    ]),
  )
}

describe('contend', () => {
  it.each<[string, Parameters<typeof wants>[0], Known, Record<string, string[]>]>([
    ['leaves alone who wants the same', { x: { a: '1' }, y: { a: '1' } }, {}, {}],
    ['gives what nobody had to the first by name', { y: { a: '2' }, x: { a: '1' } }, {}, { y: ['a x'] }],
    [
      'leaves it to whom the database has',
      { x: { a: '1' }, y: { a: '2' } },
      { database: { a: '2' } },
      { x: ['a y'] },
    ],
    [
      'leaves it to who had it, even if it is to be another',
      { x: { a: '1' }, y: { a: '3' } },
      { claims: { y: '2' }, database: { a: '1' } },
      { x: ['a y'] },
    ],
    [
      'leaves it to that one of two who had it that wants no other',
      { x: { a: '3' }, y: { a: '2' } },
      { claims: { x: '2', y: '2' }, database: { a: '2' } },
      { x: ['a y'] },
    ],
    ['leaves it to who is not planned', { x: { a: '1' } }, { claims: { z: '2' } }, { x: ['a z'] }],
    ['lets who is not planned have company', { x: { a: '2' } }, { claims: { z: '2' } }, {}],
    ['takes it from who lets it go', { x: { a: '1' }, y: { b: '1' } }, { claims: { y: '2' } }, {}],
    [
      'lets the others wait for nothing else',
      { x: { a: '1', b: '1' }, y: { a: '2', c: '1' } },
      {},
      { y: ['a x'] },
    ],
    [
      'does not touch what may be that of somebody unheard',
      { x: { a: '1' }, y: { a: '2' } },
      { database: { a: '3' }, unheard: 'z' },
      { x: ['a unheard z'], y: ['a unheard z'] },
    ],
    ['takes what is there for its own', { x: { a: '3' } }, { database: { a: '3' }, unheard: 'z' }, {}],
    ['takes what is not there', { x: { a: '3' } }, { unheard: 'z' }, {}],
    [
      'changes what it had, whoever is unheard',
      { x: { a: '3' } },
      { claims: { x: '2' }, database: { a: '2' }, unheard: 'z' },
      {},
    ],
  ])('%s', (_name, wanted, known, expected) => {
    expect(shown(wanted, known)).toEqual(expected)
  })
})
