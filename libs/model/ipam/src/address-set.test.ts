import {
  ipv4Space,
  ipv6Space,
  parseIpv4,
  parseIpv6,
  RangeSet,
  type AddressSpace,
  type Ip,
} from '@kube-ovn/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AddressSet } from './address-set.ts'
import { counterexample } from './testing/counterexample.ts'

// Offsets where something may go wrong: around words of 32, pages of 1024, and the end of the pages at 2^20.
const edges = [0, 32, 64, 1024, 2048, 4096, 1 << 20, (1 << 20) + 1024]
const offsets = fc
  .tuple(fc.constantFrom(...edges), fc.integer({ min: -3, max: 40 }))
  .map(([edge, distance]) => Math.max(edge + distance, 0))

/** What happens to a set: a range in the beginning, or then one address. */
const ranges = fc.array(fc.tuple(offsets, offsets), { maxLength: 6 })
const changes = fc.array(fc.tuple(fc.constantFrom('add', 'remove', 'fork'), offsets), { maxLength: 60 })

function compare<A extends Ip>(
  set: AddressSet<A>,
  model: RangeSet<A>,
  space: AddressSpace<A>,
  first: A,
): void {
  expect(String(set.toRangeSet())).toBe(String(model))
  expect(set.isEmpty).toBe(model.isEmpty)
  expect(set.firstExcept(new Set())).toBe(model.first)
  const skipped = new Set<Ip>([0, 1, 2, 31, 32, 33, 1024].map((offset) => space.at(first, offset)))
  expect(set.firstExcept(skipped)).toBe(model.firstExcept(skipped))
  for (const edge of edges) {
    const ip = space.at(first, edge)
    expect(set.has(ip)).toBe(model.has(ip))
  }
}

/** All that may happen to a set of ranges happens to both, and both answer alike. */
function alike<A extends Ip>(space: AddressSpace<A>, first: A) {
  return fc.property(ranges, changes, (given, told) => {
    const model = RangeSet.in(space)
    for (const [a, b] of given)
      model.addRange(space.at(first, Math.min(a, b)), space.at(first, Math.max(a, b)))
    // Forks that nothing happens to any more must stay as they are.
    const forks: [AddressSet<A>, RangeSet<A>][] = []
    let set = AddressSet.of(space, first, model)
    compare(set, model, space, first)
    for (const [change, offset] of told) {
      const ip = space.at(first, offset)
      if (change === 'add') expect(set.add(ip)).toBe(model.add(ip))
      else if (change === 'remove') expect(set.remove(ip)).toBe(model.remove(ip))
      else {
        const [original, twin] = [set, set.fork()]
        const goesOnWithTwin = offset % 2 === 0
        forks.push([goesOnWithTwin ? original : twin, model.clone()])
        set = goesOnWithTwin ? twin : original
      }
    }
    compare(set, model, space, first)
    for (const [fork, then] of forks) compare(fork, then, space, first)
  })
}

describe('AddressSet', () => {
  it('is a set of ranges, IPv4', () => {
    const property = alike(ipv4Space, parseIpv4('10.0.0.0'))
    expect(counterexample('IPv4 sets', property, { numRuns: 300 })).toBeUndefined()
  })

  it('is a set of ranges, IPv6', () => {
    const property = alike(ipv6Space, parseIpv6('fd00::'))
    expect(counterexample('IPv6 sets', property, { numRuns: 300 })).toBeUndefined()
  })

  it('has room for addresses that are as far apart as can be', () => {
    const [first, last] = [parseIpv6('fd00::'), parseIpv6('fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff')]
    const set = AddressSet.of(ipv6Space, first, RangeSet.v6([{ first, last }]))
    expect(set.remove(last)).toBe(true)
    expect(set.has(last)).toBe(false)
    expect(set.remove(first)).toBe(true)
    expect(String(set.toRangeSet())).toBe('fd00::1-fdff:ffff:ffff:ffff:ffff:ffff:ffff:fffe')
  })
})
