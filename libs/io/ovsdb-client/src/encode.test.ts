import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ColumnType, mapOf, parseColumnType } from './column-type.ts'
import { decodeValue } from './decode.ts'
import { encodeValue } from './encode.ts'
import { InexactIntegerError, ProtocolError } from './errors.ts'
import { parseExactly, shortestInteger } from './integer.ts'
import type { Atom, ColumnTypeSchema, NewValue, Value } from './types.ts'
import { compareAtoms } from './value.ts'

const uuid = '0d5b0e7c-7d5c-4b1f-9d0e-5f3f2d3a1b00'
const unlimited = { min: 0, max: 'unlimited' } as const
const atoms: Readonly<Record<string, fc.Arbitrary<Atom>>> = {
  integer: fc.oneof(fc.maxSafeInteger(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(shortestInteger)),
  real: fc
    .double({ noNaN: true, min: -1e300, max: 1e300 })
    .map((value) => (Math.abs(value) < 2 ** -1000 ? 0 : Number(value.toPrecision(15)))),
  boolean: fc.boolean(),
  string: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0')),
  uuid: fc.uuid(),
}

function type(schema: ColumnTypeSchema): ColumnType {
  return parseColumnType({ type: schema })
}

describe.each(Object.entries(atoms))('a column of %s', (key, atom) => {
  function expectRoundTrip(schema: ColumnTypeSchema, values: fc.Arbitrary<Value>): void {
    fc.assert(
      fc.property(values, (value) => {
        const encoded = encodeValue(type(schema), value)
        if (!('wire' in encoded)) throw new Error(encoded.expected)
        const sent = parseExactly(JSON.stringify(encoded.wire))
        expect(decodeValue(type(schema), sent)).toEqual(value)
      }),
    )
  }

  it('with one value reads what it wrote', () => expectRoundTrip({ key }, atom))

  it('with at most one value reads what it wrote', () =>
    expectRoundTrip({ key, min: 0 }, fc.oneof(fc.constant(undefined), atom)))

  it('with a set reads what it wrote, in order', () =>
    expectRoundTrip({ key, ...unlimited }, fc.uniqueArray(atom).map(sorted)))

  it('with a map reads what it wrote', () =>
    expectRoundTrip(
      { key, value: 'string', ...unlimited },
      fc.array(fc.tuple(atom.map(String), fc.string())).map((entries) => mapOf(entries)),
    ))
})

function sorted(set: readonly Atom[]): readonly Atom[] {
  return set.toSorted(compareAtoms)
}

describe('encodeValue', () => {
  it.each<{ name: string; schema: ColumnTypeSchema; value: NewValue; wire: unknown }>([
    { name: 'no value', schema: { key: 'string', min: 0 }, value: undefined, wire: ['set', []] },
    { name: 'a set of one', schema: { key: 'string', ...unlimited }, value: ['a'], wire: 'a' },
    { name: 'one value for a set', schema: { key: 'string', ...unlimited }, value: 'a', wire: 'a' },
    { name: 'a reference', schema: { key: 'uuid' }, value: uuid, wire: ['uuid', uuid] },
    {
      name: 'a reference by name',
      schema: { key: 'uuid' },
      value: { named: 'x' },
      wire: ['named-uuid', 'x'],
    },
    {
      name: 'references of both kinds',
      schema: { key: 'uuid', ...unlimited },
      value: [uuid, { named: 'x' }],
      wire: ['set', [['uuid', uuid], ['named-uuid', 'x']]], // prettier-ignore
    },
    {
      name: 'number keys',
      schema: { key: 'integer', value: 'uuid', ...unlimited },
      value: { 5: { named: 'q' } },
      wire: ['map', [[5, ['named-uuid', 'q']]]],
    },
  ])('writes $name', ({ schema, value, wire }) => expect(encodeValue(type(schema), value)).toEqual({ wire }))

  it.each<{ name: string; schema: ColumnTypeSchema; value: NewValue; expected: string }>([
    { name: 'a number as a string', schema: { key: 'string' }, value: 1, expected: 'a string value' },
    { name: 'a fraction', schema: { key: 'integer' }, value: 1.5, expected: 'an integer value' },
    {
      name: 'an integer beyond 2^53',
      schema: { key: 'integer' },
      value: 2 ** 53,
      expected: 'an integer value, beyond ±2^53 as a bigint',
    },
    {
      name: 'an integer beyond 64 bits',
      schema: { key: 'integer' },
      value: 2n ** 63n,
      expected: 'an integer value',
    },
    { name: 'infinity', schema: { key: 'real' }, value: Infinity, expected: 'a real value' },
    {
      name: 'a real that the server would shorten',
      schema: { key: 'real' },
      value: 0.1 + 0.2,
      expected: 'a real value of at most 15 significant digits',
    },
    {
      name: 'a subnormal real, on which the server hangs up',
      schema: { key: 'real', min: 0, max: 'unlimited' },
      value: [1, 5e-324],
      expected: 'a list of real values of at most 15 significant digits',
    },
    {
      name: 'text with U+0000, on which the server hangs up',
      schema: { key: 'string' },
      value: 'a\0b',
      expected: 'a string value without U+0000 and halves of surrogate pairs',
    },
    {
      name: 'half of a surrogate pair as a key',
      schema: { key: 'string', value: 'string', ...unlimited },
      value: { '\ud800': 'x' },
      expected: 'an object of string values by string keys without U+0000 and halves of surrogate pairs',
    },
    {
      name: 'a row name as a reference',
      schema: { key: 'uuid', min: 0 },
      value: 'sw0',
      expected: 'a uuid value or undefined',
    },
    {
      name: 'nothing for one value',
      schema: { key: 'boolean' },
      value: undefined,
      expected: 'a boolean value',
    },
    { name: 'a list for one value', schema: { key: 'string' }, value: ['a'], expected: 'a string value' },
    {
      name: 'a mixed set',
      schema: { key: 'string', ...unlimited },
      value: ['a', 1],
      expected: 'a list of string values',
    },
    {
      name: 'a list as a map',
      schema: { key: 'string', value: 'integer', ...unlimited },
      value: ['a'],
      expected: 'an object of integer values by string keys',
    },
    {
      name: 'text as a number key',
      schema: { key: 'integer', value: 'string', ...unlimited },
      value: { a: 'b' },
      expected: 'an object of string values by integer keys',
    },
  ])('refuses $name', ({ schema, value, expected }) =>
    expect(encodeValue(type(schema), value)).toEqual({ expected }),
  )
})

describe('decodeValue', () => {
  it('knows one zero', () => {
    expect(decodeValue(type({ key: 'real' }), -0)).toBe(0)
    expect(decodeValue(type({ key: 'integer' }), -0)).toBe(0)
  })

  it('never takes an integer that has lost digits', () => {
    const lossy: unknown = JSON.parse('9007199254740993')
    expect(() => decodeValue(type({ key: 'integer' }), lossy)).toThrow(InexactIntegerError)
    expect(decodeValue(type({ key: 'integer' }), parseExactly('9007199254740993'))).toBe(9007199254740993n)
    expect(decodeValue(type({ key: 'real' }), parseExactly('9007199254740993'))).toBe(2 ** 53)
  })

  it('makes maps that inherit nothing', () => {
    const map = decodeValue(type({ key: 'string', value: 'string', ...unlimited }), [
      'map',
      [['__proto__', 'x']],
    ])
    expect(Object.entries(map as object)).toEqual([['__proto__', 'x']])
    expect((map as Record<string, unknown>)['constructor']).toBeUndefined()
  })

  it.each<{ schema: ColumnTypeSchema; wire: unknown }>([
    { schema: { key: 'string' }, wire: 1 },
    { schema: { key: 'uuid' }, wire: 'sw0' },
    { schema: { key: 'string', ...unlimited }, wire: ['set', 'a'] },
    { schema: { key: 'string', value: 'string', ...unlimited }, wire: ['set', []] },
  ])('refuses $wire', ({ schema, wire }) =>
    expect(() => decodeValue(type(schema), wire)).toThrow(ProtocolError),
  )
})
