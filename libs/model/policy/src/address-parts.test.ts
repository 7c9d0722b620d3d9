import { contains, networkText, parseCidr, parseIp } from '@kube-ovn/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exceptionFlows, mostParts, partsOf } from './address-parts.ts'
import type { AddressBlock } from './rules.ts'

function block(prefix: string, ...except: readonly string[]): AddressBlock {
  return { prefix: parseCidr(prefix), except: except.map((text) => parseCidr(text)) }
}

describe('partsOf', () => {
  it.each([
    [block('10.0.0.0/8'), ['10.0.0.0/8']],
    [block('10.0.0.0/8', '10.0.0.0/8'), []],
    [block('10.0.0.0/30', '10.0.0.2/32'), ['10.0.0.0/31', '10.0.0.3/32']],
    [block('10.0.0.0/30', '10.0.0.2/31', '10.0.0.3/32'), ['10.0.0.0/31']],
    [block('fd00::/126', 'fd00::1/128'), ['fd00::/128', 'fd00::2/127']],
  ])('takes exceptions out', (one, want) => expect(partsOf(one)?.map(networkText)).toEqual(want))

  it('has as many parts as bits for exceptions that cost a node all its room in the other form', () => {
    const one = block('0.0.0.0/0', ...Array.from({ length: 10 }, (_, index) => `${10 + index * 20}.1.2.0/24`))
    expect(exceptionFlows(one)).toBeGreaterThan(1e13)
    expect(partsOf(one)?.length).toBeLessThan(10 * 24)
  })

  it('gives up where there are too many', () => {
    const except = Array.from(
      { length: mostParts },
      (_, index) => `10.${index >> 7}.${(index & 127) * 2}.1/32`,
    )
    expect(partsOf(block('10.0.0.0/8', ...except))).toBeUndefined()
  })

  it('has the addresses of the block that no exception has, each once', () => {
    const address = fc.integer({ min: 0, max: 255 })
    const exception = fc.tuple(address, fc.integer({ min: 24, max: 32 }))
    fc.assert(
      fc.property(fc.array(exception, { maxLength: 6 }), (drawn) => {
        const one = block('10.1.2.0/24', ...drawn.map(([last, length]) => `10.1.2.${last}/${length}`))
        const parts = partsOf(one) ?? []
        for (let last = 0; last < 256; last++) {
          const ip = parseIp(`10.1.2.${last}`)
          const wanted = one.except.some((except) => contains(except, ip)) ? 0 : 1
          expect(parts.filter((part) => contains(part, ip))).toHaveLength(wanted)
        }
      }),
    )
  })
})
