import type { DnsNameResolver } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { forgottenMs, graceMs, resolvedAddresses } from './resolved-names.ts'

const start = Date.parse('2030-01-01T00:00:00Z')

/** An answer: address, TTL and second in which it was given. */
type Answer = readonly [ip: string, ttlSeconds: number, at: number]

function resolver(...names: readonly (readonly Answer[])[]): DnsNameResolver {
  return {
    metadata: { name: 'anp-web-00000000' },
    spec: { name: '*.example.com.' },
    status: {
      resolvedNames: names.map((answers, at) => ({
        dnsName: `www${at}.example.com.`,
        resolvedAddresses: answers.map(([ip, ttlSeconds, second]) => ({
          ...{ ip, ttlSeconds },
          lastLookupTime: new Date(start + second * 1000).toISOString(),
        })),
      })),
    },
  }
}

/** Addresses with the second in which each ends, beyond the grace. */
function shown(of: DnsNameResolver): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(
    resolvedAddresses(of).map(({ address, until }) => [
      address,
      until === undefined ? undefined : (until - start - graceMs) / 1000,
    ]),
  )
}

const always = undefined

describe('an address', () => {
  it.each<
    [what: string, names: readonly (readonly Answer[])[], ends: Readonly<Record<string, number | undefined>>]
  >([
    ['counts while nothing newer is known', [[['192.0.2.1', 5, 0]]], { '192.0.2.1': always }],
    [
      'of one answer with others counts as they do',
      [
        [
          ['192.0.2.1', 30, 0],
          ['192.0.2.2', 30, 0],
        ],
      ],
      { '192.0.2.1': always, '192.0.2.2': always },
    ],
    [
      'that a name has no more ends with its TTL',
      [
        [
          ['192.0.2.1', 30, 0],
          ['192.0.2.2', 30, 60],
        ],
      ],
      { '192.0.2.1': 30, '192.0.2.2': always },
    ],
    [
      'that is valid for longer than what came after it goes on',
      [
        [
          ['192.0.2.1', 3600, 0],
          ['192.0.2.2', 30, 60],
        ],
      ],
      { '192.0.2.1': always, '192.0.2.2': always },
    ],
    [
      'is left as it was by an answer that ends at nearly the same time',
      [
        [
          ['192.0.2.1', 30, 0],
          ['192.0.2.2', 30, 4],
        ],
      ],
      { '192.0.2.1': always, '192.0.2.2': always },
    ],
    [
      'of one family is not ended by the other one',
      [
        [
          ['192.0.2.1', 30, 0],
          ['2001:db8::1', 30, 60],
        ],
      ],
      { '192.0.2.1': always, '2001:db8::1': always },
    ],
    [
      'of one name is not ended by another one',
      [[['192.0.2.1', 30, 0]], [['192.0.2.2', 30, 60]]],
      { '192.0.2.1': always, '192.0.2.2': always },
    ],
    [
      'of two names ends with the later one',
      [
        [
          ['192.0.2.1', 30, 0],
          ['192.0.2.2', 30, 60],
        ],
        [
          ['192.0.2.1', 30, 20],
          ['192.0.2.3', 30, 60],
        ],
      ],
      { '192.0.2.1': 50, '192.0.2.2': always, '192.0.2.3': always },
    ],
    [
      'in another form is the same one, and what is none is left out',
      [
        [
          ['2001:DB8:0::1', 30, 0],
          ['example', 30, 60],
          ['192.0.2.1/24', 30, 60],
          ['', 30, 60],
        ],
      ],
      { '2001:db8::1': always },
    ],
    [
      'with a TTL below zero ends at once',
      [
        [
          ['192.0.2.1', -7, 0],
          ['192.0.2.2', 30, 60],
        ],
      ],
      { '192.0.2.1': 0, '192.0.2.2': always },
    ],
  ])('%s', (_what, names, ends) => {
    expect(shown(resolver(...names))).toEqual(ends)
  })

  it.each<[name: string, allowedUntil: number | undefined]>([
    ['*.example.com.', start + 30_000 + graceMs + forgottenMs],
    ['www.example.com.', undefined],
  ])('of %s that nobody asks for again is denied on, and let through to until %d', (name, allowedUntil) => {
    const [found] = resolvedAddresses({ ...resolver([['192.0.2.1', 30, 0]]), spec: { name } })
    expect(found).toEqual({ address: '192.0.2.1', until: undefined, allowedUntil })
  })

  it('of two names that a wildcard stands for is let through to as long as one of them is asked for', () => {
    const names = [[['192.0.2.1', 30, 0]], [['192.0.2.1', 30, 60]]] as const
    const [found] = resolvedAddresses(resolver(...names))
    expect(found?.allowedUntil).toBe(start + 90_000 + graceMs + forgottenMs)
  })

  it('that is former ends for both kinds of rules at once', () => {
    const [former] = resolvedAddresses(
      resolver([
        ['192.0.2.1', 30, 0],
        ['192.0.2.2', 30, 60],
      ]),
    )
    expect(former).toEqual({
      address: '192.0.2.1',
      ...{ until: start + 30_000 + graceMs, allowedUntil: start + 30_000 + graceMs },
    })
  })

  it.each([
    undefined,
    {},
    { resolvedNames: null },
    { resolvedNames: [{ dnsName: 'a.b.', resolvedAddresses: null }] },
  ])('is none in the status %j', (status) => {
    const written = JSON.stringify({ metadata: { name: 'a' }, status })
    expect(resolvedAddresses(JSON.parse(written) as DnsNameResolver)).toEqual([])
  })

  it('is one of thousands in little time', () => {
    const many = Array.from({ length: 20_000 }, (_none, at): Answer => [
      `10.1.${at >> 8}.${at & 255}`,
      30,
      at,
    ])
    const before = process.cpuUsage()
    expect(resolvedAddresses(resolver(many))).toHaveLength(20_000)
    const { user, system } = process.cpuUsage(before)
    // Milliseconds of its own: others may use the machine, too.
    expect((user + system) / 1000).toBeLessThan(2000)
  })
})
