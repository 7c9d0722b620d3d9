import { expect, it } from 'vitest'
import fc from 'fast-check'
import { CidrIndex } from './cidr-index.ts'
import { networkText, overlaps, parseCidr, type Cidr } from './cidr.ts'

const cidr = fc
  .tuple(fc.constantFrom('10.0.0.', 'fd00::'), fc.nat(255), fc.nat(9))
  .map(([base, host, shorter]): Cidr => {
    const isV4 = base === '10.0.0.'
    return parseCidr(`${base}${isV4 ? host : host.toString(16)}/${(isV4 ? 32 : 128) - shorter}`)
  })

it('finds exactly the prefixes that overlap', () => {
  fc.assert(
    fc.property(fc.array(cidr, { maxLength: 40 }), cidr, (all, asked) => {
      const index = new CidrIndex<number>()
      for (const [place, one] of all.entries()) index.add(one, place)
      const found = [...index.overlapping(asked)].map(({ value }) => value)
      const expected = all.flatMap((one, place) =>
        one.family === asked.family && overlaps(one, asked) ? [place] : [],
      )
      expect(found.toSorted((a, b) => a - b)).toEqual(expected)
    }),
  )
})

it('tells the ones around first, the widest of them before others, then those inside by address', () => {
  const index = new CidrIndex<string>()
  for (const text of [
    '10.1.2.0/26',
    '10.1.0.0/16',
    '10.1.2.0/24',
    '10.0.0.0/8',
    '10.1.2.128/25',
    '10.2.0.0/16',
  ])
    index.add(parseCidr(text), text)
  const found = [...index.overlapping(parseCidr('10.1.2.0/25'))].map((entry) => networkText(entry.cidr))
  expect(found).toEqual(['10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.0/26'])
})
