import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blockRange,
  formatIp,
  ipv4Space,
  ipv6Space,
  isIpv4Range,
  parseCidr,
  parseIp,
  parseIpv4,
  parseIpv6,
  parseRangeSets,
  RangeSet,
  tryParseIpRange,
  type AddressSpace,
  type Ip,
  type Ipv4,
  type Ipv6,
} from './index.ts'

/** A small window of addresses, so that a Set of all of them is the oracle; the extremes are in it. */
const width = 24
const windows: readonly { name: string; space: AddressSpace<Ipv4 | Ipv6>; at: (offset: number) => Ip }[] = [
  { name: 'lowest IPv4', space: wide(ipv4Space), at: (offset) => offset as Ipv4 },
  {
    name: 'highest IPv4',
    space: wide(ipv4Space),
    at: (offset) => (0xffff_ffff - width + 1 + offset) as Ipv4,
  },
  {
    name: 'highest IPv6',
    space: wide(ipv6Space),
    at: (offset) => ((1n << 128n) - BigInt(width - offset)) as Ipv6,
  },
]

/** Lets one test body serve both families; every set of a test holds one family only. */
function wide<A extends Ip>(space: AddressSpace<A>): AddressSpace<Ip> {
  return space
}

const span = fc
  .tuple(fc.nat(width - 1), fc.nat(width - 1))
  .map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }))
const change = fc.record({ remove: fc.boolean(), span })
const changes = fc.array(change, { maxLength: 12 })

describe.each(windows)('RangeSet at the $name addresses', ({ space, at }) => {
  const all = Array.from({ length: width }, (_, offset) => at(offset))

  function build(script: readonly { remove: boolean; span: { first: number; last: number } }[]) {
    const set = RangeSet.in(space)
    const naive = new Set<Ip>()
    for (const { remove, span } of script) {
      const touched = all.slice(span.first, span.last + 1)
      const expected = touched.some((ip) => naive.has(ip) === remove)
      const first = at(span.first)
      const last = at(span.last)
      expect(remove ? set.removeRange(first, last) : set.addRange(first, last)).toBe(expected)
      for (const ip of touched) {
        if (remove) naive.delete(ip)
        else naive.add(ip)
      }
    }
    return { set, naive }
  }

  function holds(set: RangeSet<Ip>, wanted: (ip: Ip) => boolean): void {
    const members = all.filter(wanted)
    expect(all.filter((ip) => set.has(ip))).toEqual(members)
    expect(set.size()).toBe(BigInt(members.length))
    expect(set.first).toBe(members[0])
    expect(set.isEmpty).toBe(members.length === 0)
    expect(set.toString()).toBe(naiveText(all, wanted))
    expect(
      set.equals(
        RangeSet.in(
          space,
          members.map((ip) => ({ first: ip, last: ip })),
        ),
      ),
    ).toBe(true)
  }

  it('holds what a plain set holds', () => {
    fc.assert(
      fc.property(changes, (script) => {
        const { set, naive } = build(script)
        holds(set, (ip) => naive.has(ip))
      }),
    )
  })

  it('obeys the laws of set algebra and changes no operand', () => {
    fc.assert(
      fc.property(changes, changes, (left, right) => {
        const a = build(left)
        const b = build(right)
        holds(a.set.union(b.set), (ip) => a.naive.has(ip) || b.naive.has(ip))
        holds(a.set.minus(b.set), (ip) => a.naive.has(ip) && !b.naive.has(ip))
        holds(a.set.intersect(b.set), (ip) => a.naive.has(ip) && b.naive.has(ip))
        holds(a.set, (ip) => a.naive.has(ip))
        holds(b.set, (ip) => b.naive.has(ip))
        expect(a.set.minus(b.set).union(a.set.intersect(b.set)).equals(a.set)).toBe(true)
      }),
    )
  })

  it('finds the lowest address that is not skipped', () => {
    fc.assert(
      fc.property(changes, fc.uniqueArray(fc.nat(width - 1)), (script, offsets) => {
        const { set, naive } = build(script)
        const skip = new Set(offsets.map(at))
        expect(set.firstExcept(skip)).toBe(all.find((ip) => naive.has(ip) && !skip.has(ip)))
      }),
    )
  })

  it('decomposes into prefixes that hold the same addresses', () => {
    fc.assert(
      fc.property(changes, (script) => {
        const { set } = build(script)
        const blocks = set.toPrefixes().map((text) => blockRange(parseCidr(text)))
        expect(RangeSet.in(space, blocks).equals(set)).toBe(true)
        expect(blocks.reduce((sum, { first, last }) => sum + space.count(first, last), 0n)).toBe(set.size())
      }),
    )
  })

  it('is independent of its clone', () => {
    const { set } = build([{ remove: false, span: { first: 2, last: 9 } }])
    const text = set.toString()
    const copy = set.clone()
    copy.remove(at(5))
    expect(set.toString()).toBe(text)
    set.add(at(20))
    expect(copy.has(at(20))).toBe(false)
  })
})

describe('RangeSet', () => {
  it('reports whether an address was added or removed', () => {
    const set = RangeSet.v4()
    expect(set.add(parseIpv4('10.0.0.1'))).toBe(true)
    expect(set.add(parseIpv4('10.0.0.1'))).toBe(false)
    expect(set.remove(parseIpv4('10.0.0.2'))).toBe(false)
    expect(set.remove(parseIpv4('10.0.0.1'))).toBe(true)
    expect(set.toString()).toBe('')
  })

  it('refuses a range that ends before it starts', () => {
    expect(() => RangeSet.v4().addRange(2 as Ipv4, 1 as Ipv4)).toThrow(RangeError)
    expect(() => RangeSet.v4().removeRange(2 as Ipv4, 1 as Ipv4)).toThrow(RangeError)
  })

  it('decomposes unaligned ranges into the fewest prefixes, ordered as text', () => {
    expect(parseRangeSets(['192.168.0.1..192.168.0.5']).v4.toPrefixes()).toEqual([
      '192.168.0.1/32',
      '192.168.0.2/31',
      '192.168.0.4/31',
    ])
    expect(parseRangeSets(['fd00::1..fd00::5']).v6.toPrefixes()).toEqual([
      'fd00::1/128',
      'fd00::2/127',
      'fd00::4/127',
    ])
    expect(parseRangeSets(['10.0.0.1', '10.0.0.5', '10.0.0.10']).v4.toPrefixes()).toEqual([
      '10.0.0.1/32',
      '10.0.0.10/32',
      '10.0.0.5/32',
    ])
    expect(parseRangeSets(['fd00::1', 'fd00::5', 'fd00::10']).v6.toPrefixes()).toEqual([
      'fd00::1/128',
      'fd00::10/128',
      'fd00::5/128',
    ])
    expect(parseRangeSets(['0.0.0.0', '255.255.255.255']).v4.toPrefixes()).toEqual([
      '0.0.0.0/32',
      '255.255.255.255/32',
    ])
    expect(parseRangeSets(['0.0.0.0/0', '::']).v4.toPrefixes()).toEqual(['0.0.0.0/0'])
    expect(parseRangeSets(['::/0']).v6.toPrefixes()).toEqual(['::/0'])
    expect(parseRangeSets(['::', '255.255.255.255']).v6.toPrefixes()).toEqual(['::/128'])
  })

  it('takes the lowest address of a /8 or a /64 again and again', () => {
    const { v4, v6 } = parseRangeSets(['10.0.0.0/8', 'fd00::/64'])
    for (let taken = 0; taken < 50_000; taken++) {
      const first4 = v4.first
      const first6 = v6.first
      if (first4 === undefined || first6 === undefined) expect.unreachable()
      else expect(v4.remove(first4) && v6.remove(first6)).toBe(true)
    }
    expect(v4.toString()).toBe('10.0.195.80-10.255.255.255')
    expect(v6.size()).toBe((1n << 64n) - 50_000n)
  })
})

describe('parseRangeSets', () => {
  it('merges addresses, ranges and prefixes of both families', () => {
    const sets = parseRangeSets([
      '10.0.0.10..10.0.0.20',
      '10.0.0.15..10.0.0.23',
      '10.0.0.24',
      'fd00::/126',
      '10.1.0.0/31',
    ])
    expect(sets.v4.toString()).toBe('10.0.0.10-10.0.0.24,10.1.0.0-10.1.0.1')
    expect(sets.v4.size()).toBe(17n)
    expect(sets.v6.toString()).toBe('fd00::-fd00::3')
    expect(
      ['10.0.0.9', '10.0.0.25', '10.0.255.255', '10.1.0.2'].filter((ip) => sets.v4.has(parseIpv4(ip))),
    ).toEqual([])
    expect(['fcff:ffff::', 'fd00::4'].filter((ip) => sets.v6.has(parseIpv6(ip)))).toEqual([])
    expect(sets.v6.size()).toBe(4n)
  })

  it.each([
    ['10.0.0.20..10.0.0.10', 'invalid IP range', '10.0.0.10..10.0.0.20'],
    ['fd00::20..fd00::10', 'invalid IP range', 'fd00::10..fd00::20'],
    ['10.0.0.1..fd00::1', 'invalid IP range', 'same family'],
    ['fd00::1..10.0.0.1', 'invalid IP range', 'same family'],
    ['10.0.0.1..', 'invalid IP range', 'address'],
    ['10.0.0.1...10.0.0.4', 'invalid IP range', 'address'],
    ['fd00::1..', 'invalid IP range', 'address'],
    ['10.0.0', 'invalid IP address', 'address'],
    ['fd00::g', 'invalid IP address', 'address'],
    ['10.0.0.0/33', 'invalid CIDR address', 'prefix length'],
    ['fd00::/129', 'invalid CIDR address', 'prefix length'],
  ])('refuses %s', (text, message, cure) => {
    expect(() => parseRangeSets(['10.0.0.1', text], 'spec.ips')).toThrow(
      expect.objectContaining({
        message,
        details: { field: 'spec.ips', value: text, cure: expect.stringContaining(cure) },
      }),
    )
    expect(tryParseIpRange(text)).toBeUndefined()
  })

  it('tells the families of ranges apart', () => {
    const range = tryParseIpRange('10.0.0.1')
    expect(range !== undefined && isIpv4Range(range)).toBe(true)
    expect(formatIp(range?.last ?? parseIp('::'))).toBe('10.0.0.1')
  })
})

/** Prints members of a window as ranges, one address at a time. */
function naiveText(all: readonly Ip[], wanted: (ip: Ip) => boolean): string {
  const runs: Ip[][] = []
  for (const [index, ip] of all.entries()) {
    if (!wanted(ip)) continue
    const previous = all[index - 1]
    if (previous !== undefined && wanted(previous)) runs.at(-1)?.push(ip)
    else runs.push([ip])
  }
  return runs
    .map((run) => run.map(formatIp))
    .map((run) => (run.length === 1 ? run.join('') : `${run[0]}-${run.at(-1)}`))
    .join(',')
}
