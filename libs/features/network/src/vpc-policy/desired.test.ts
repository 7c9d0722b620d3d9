import { describe, expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredPolicies, type PoliciesSnapshot } from './desired.ts'

type Policy = PoliciesSnapshot['policies'][number]

const match = { 4: 'ip4.dst == 10.9.0.0/16', 6: 'ip6.dst == fd00:9::/48' } as const
const hops = { 4: ['10.1.0.8', '10.1.0.9'], 6: ['fd00:1::8', 'fd00:1::9'] } as const

function policyOf(parts: Omit<Policy, 'key'>): Policy {
  return { ...parts, key: `${parts.priority}/${parts.match}` }
}

const table = ([4, 6] as const).flatMap((family): readonly [string, Policy][] => [
  [
    `IPv${family} is let through`,
    policyOf({ priority: 10, match: match[family], action: 'allow', nextHops: [] }),
  ],
  [`IPv${family} is dropped`, policyOf({ priority: 11, match: match[family], action: 'drop', nextHops: [] })],
  [
    `IPv${family} has a way of its own`,
    policyOf({ priority: 12, match: match[family], action: 'reroute', nextHops: hops[family].slice(0, 1) }),
  ],
  [
    `IPv${family} has several ways that share it`,
    policyOf({ priority: 13, match: match[family], action: 'reroute', nextHops: hops[family] }),
  ],
])

describe('desiredPolicies', () => {
  it.each(table)('%s', (_name, policy) => {
    const desired = desiredPolicies({ vpc: 'red', policies: [policy] })
    const { priority, action, nextHops } = policy
    const row = `lrpol-vpc/red/${priority}/${policy.match}`
    expect(shownRows(desired)).toEqual([
      {
        ...{ row, priority, match: policy.match, action },
        nexthops: nextHops,
        external_ids: { vendor: 'kube-ovn' },
      },
    ])
    expect(shownMembers(desired)).toEqual([`lr/red policies: ${row}`])
  })

  it('tells policies of one priority, and of several VPCs, apart', () => {
    const policies = table.map(([, policy]) => policyOf({ ...policy, priority: 10 }))
    const rows = ['red', 'blue'].flatMap((vpc) =>
      shownRows(desiredPolicies({ vpc, policies: policies.filter((_one, place) => place % 4 === 0) })),
    )
    expect(new Set(rows.map(({ row }) => row)).size).toBe(4)
  })

  it('has nothing for a VPC without policies', () => {
    const desired = desiredPolicies({ vpc: 'red', policies: [] })
    expect([shownRows(desired), shownMembers(desired)]).toEqual([[], []])
  })
})
