import { cidrOf, overlaps, parseCidr, parseIp, type Cidr } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import type { SecurityRule } from './security-rule.ts'
import { strictest } from './strictest-rules.ts'

const remotes: readonly SecurityRule['remote'][] = [
  { kind: 'group', group: 'friends' },
  ...['0.0.0.0/0', '10.0.0.0/8', '10.1.2.0/24', '10.255.255.255/32'].map((text) => ({
    ...{ kind: 'address' as const, address: parseCidr(text) },
  })),
  { kind: 'address', address: parseIp('10.1.2.3') },
]
const locals = [undefined, parseCidr('10.1.0.0/16'), parseIp('10.2.0.0')]
const traffics: readonly SecurityRule['traffic'][] = [
  { protocol: 'all' },
  { protocol: 'icmp' },
  { protocol: 'tcp', to: [80, 90], from: undefined },
  { protocol: 'tcp', to: [90, 443], from: [1, 9] },
  { protocol: 'tcp', to: [91, 65_535], from: [9, 65_535] },
  { protocol: 'udp', to: [80, 90], from: undefined },
]
const drops: readonly SecurityRule[] = remotes.flatMap((remote) =>
  locals.flatMap((local) =>
    traffics.map((traffic) => ({
      ...{ field: 'spec.ingressRules[0]', priority: 5, family: 4, action: 'drop' },
      ...{ remote, local, traffic },
    })),
  ),
)

function allowing(rule: SecurityRule, more: Partial<SecurityRule> = {}): SecurityRule {
  return { ...rule, field: 'spec.ingressRules[1]', action: 'allow-related', ...more }
}

/** Whether two rules may be about one packet, by what a rule says and nothing else. */
function mayMeet(one: SecurityRule, other: SecurityRule): boolean {
  const [here, there] = [one.traffic, other.traffic]
  const inRanges =
    !('to' in here && 'to' in there) ||
    (meet(here.to, there.to) && (here.from === undefined || !there.from || meet(here.from, there.from)))
  return (
    (one.remote.kind === 'group' ||
      other.remote.kind === 'group' ||
      overlaps(prefixOf(one.remote.address), prefixOf(other.remote.address))) &&
    (!one.local || !other.local || overlaps(prefixOf(one.local), prefixOf(other.local))) &&
    (here.protocol === 'all' || there.protocol === 'all' || (here.protocol === there.protocol && inRanges))
  )
}

function meet([from, to]: readonly [number, number], [first, last]: readonly [number, number]): boolean {
  return from <= last && first <= to
}

function prefixOf(one: NonNullable<SecurityRule['local']>): Cidr {
  return typeof one === 'object' ? one : cidrOf(one, 32)
}

function curesOf(rules: readonly SecurityRule[]): readonly string[] {
  return strictest(rules).refused.map((problem) => (problem.details as { readonly cure: string }).cure)
}

describe('of two rules of one priority', () => {
  it('the one that allows goes where they may be about one packet, whatever they say', () => {
    const wrong = drops.flatMap((drop) =>
      drops
        .map((rule) => allowing(rule))
        .filter((rule) => (strictest([rule, drop]).kept.length === 1) !== mayMeet(rule, drop))
        .map((rule) => ({ rule, drop })),
    )
    expect(wrong).toEqual([])
  })

  it.each<[what: string, change: Partial<SecurityRule>]>([
    ['family', { family: 6 }],
    ['priority', { priority: 6 }],
  ])('both stay that are of another %s', (_what, change) => {
    const [drop] = drops
    if (drop === undefined) throw new Error('there is no rule')
    const other = allowing(drop, change)
    expect(strictest([drop, other])).toEqual({ kept: [drop, other], refused: [] })
  })
})

const wide = (place: number, action: SecurityRule['action'], port: number): SecurityRule => ({
  ...{ field: `spec.ingressRules[${place}]`, priority: 5, family: 4, action },
  remote: { kind: 'address', address: parseCidr('0.0.0.0/0') },
  local: undefined,
  traffic: { protocol: 'tcp', to: [port, port], from: undefined },
})

describe('of many rules of one priority', () => {
  it('the first of the strictest that a rule contradicts is told', () => {
    const rules = [
      ...[wide(0, 'allow-related', 80), wide(1, 'pass', 80), wide(2, 'drop', 81), wide(3, 'drop', 80)],
      ...[wide(4, 'drop', 80), wide(5, 'allow-related', 82), wide(6, 'pass', 82)],
    ]
    expect(strictest(rules).kept.map(({ field }) => field)).toEqual(
      [2, 3, 4, 6].map((place) => `spec.ingressRules[${place}]`),
    )
    expect(curesOf(rules)).toEqual([3, 3, 6].map((place) => expect.stringContaining(`[${place}]`) as unknown))
  })

  it('each is found, wherever it stands', () => {
    const stricter = Array.from({ length: 3000 }, (_, index) => wide(index, 'drop', 1 + 2 * index))
    const laxer = Array.from({ length: 3000 }, (_, index) => wide(3000 + index, 'pass', 1 + index))
    const { kept } = strictest([...stricter, ...laxer])
    expect(kept).toHaveLength(4500)
    expect(curesOf([...laxer.toReversed(), ...stricter])[0]).toContain('spec.ingressRules[1499]')
  })
})
