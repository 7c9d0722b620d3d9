import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson, stringifyJson } from './json.ts'

describe('parseJson', () => {
  it.each([
    ['18446744073709551614', 18446744073709551614n],
    ['-9223372036854775808', -9223372036854775808n],
    ['[1,9007199254740993]', [1, 9007199254740993n]],
    ['{"a": 9007199254740993}', { a: 9007199254740993n }],
    ['9007199254740991', 9007199254740991],
    ['"18446744073709551614"', '18446744073709551614'],
    ['[0.12345678901234567890, 1e300, 1234567890123456.5]', [0.12345678901234568, 1e300, 1234567890123456.5]],
  ])('reads %s', (text, value) => expect(parseJson(text)).toEqual(value))

  it('reads back every integer, of any size, that stringifyJson prints', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })), (integers) => {
        const read = parseJson(stringifyJson({ integers }))
        const safe = (integer: bigint): bigint | number =>
          integer >= Number.MIN_SAFE_INTEGER && integer <= Number.MAX_SAFE_INTEGER ? Number(integer) : integer
        expect(read).toEqual({ integers: integers.map(safe) })
      }),
    )
  })

  it('agrees with JSON.parse on everything else', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const plain: unknown = JSON.parse(text)
        expect(JSON.parse(stringifyJson(parseJson(text)))).toEqual(plain)
      }),
    )
  })
})
