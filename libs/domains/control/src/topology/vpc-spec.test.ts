import type { VpcSpec } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { claimOf, type VpcClaim } from './vpc-spec.ts'

function claim(spec: VpcSpec): VpcClaim {
  return claimOf({ metadata: { name: 'v1' }, spec })
}

const route = { cidr: '10.9.0.0/16', nextHopIP: '10.1.0.9' }
const policy = { priority: 10, match: 'ip4.src == 10.1.0.0/24', action: 'reroute', nextHopIP: '10.1.0.9' }
const peering = { remoteVpc: 'v2', localConnectIP: '169.254.0.1/30' }

describe('claimOf', () => {
  it('reads routes in their canonical form', () => {
    const { routes, problems } = claim({
      staticRoutes: [
        { ...route, cidr: '10.9.3.4/16' },
        { cidr: '10.30.0.5', nextHopIP: '10.1.0.9', policy: 'policySrc', routeTable: 't' },
        { cidr: 'FD00:99:0::/64', nextHopIP: 'fd00:1::0009', ecmpMode: 'ecmp_symmetric_reply' },
      ],
    })
    expect(problems).toEqual([])
    expect(
      routes.map(({ policy: by, prefix, table, isSymmetric }) => [by, prefix, table, isSymmetric]),
    ).toEqual([
      ['dst-ip', '10.9.0.0/16', '', false],
      ['src-ip', '10.30.0.5', 't', false],
      ['dst-ip', 'fd00:99::/64', '', true],
    ])
  })

  it('reads next hops of policies, and forgets those of others', () => {
    const { policies, problems } = claim({
      policyRoutes: [
        { ...policy, nextHopIP: ' 10.1.0.9, 10.1.0.8,10.1.0.9' },
        { ...policy, priority: 11, action: 'drop' },
      ],
    })
    expect(problems).toEqual([])
    expect(policies.map(({ nextHops }) => nextHops)).toEqual([['10.1.0.9', '10.1.0.8'], []])
  })

  it('reads of many policies only the one that an edit changes', () => {
    const policyRoutes = Array.from({ length: 100 }, (_one, n) => ({ ...policy, priority: n }))
    const before = claim({ policyRoutes }).policies
    const after = claim({
      policyRoutes: policyRoutes.map((one) => (one.priority === 7 ? { ...one, action: 'drop' } : one)),
    }).policies
    expect(after.filter((one) => !before.includes(one))).toEqual([
      { key: `7/${policy.match}`, priority: 7, match: policy.match, action: 'drop', nextHops: [] },
    ])
  })

  it('takes what is written twice once', () => {
    const read = claim({
      staticRoutes: [route, { ...route, policy: 'policyDst' }],
      policyRoutes: [policy, policy],
      vpcPeerings: [peering, peering],
    })
    expect([read.routes.length, read.policies.length, read.peerings.length, read.problems]).toEqual([
      1,
      1,
      1,
      [],
    ])
  })

  it.each<{ readonly spec: VpcSpec; readonly field: string; readonly value: string; readonly cure: RegExp }>([
    {
      spec: { staticRoutes: [{ ...route, policy: 'dst' }] },
      field: 'staticRoutes[0].policy',
      value: 'dst',
      cure: /policyDst or policySrc/,
    },
    {
      spec: { staticRoutes: [{ ...route, cidr: '10.9' }] },
      field: 'staticRoutes[0].cidr',
      value: '10.9',
      cure: /a prefix like/,
    },
    {
      spec: { staticRoutes: [{ cidr: '10.9.0.0/16' }] },
      field: 'staticRoutes[0].nextHopIP',
      value: '',
      cure: /./,
    },
    {
      spec: { staticRoutes: [{ ...route, nextHopIP: 'fd00::1' }] },
      field: 'staticRoutes[0].nextHopIP',
      value: 'fd00::1',
      cure: /IPv4 address/,
    },
    {
      spec: { staticRoutes: [{ ...route, ecmpMode: 'all' }] },
      field: 'staticRoutes[0].ecmpMode',
      value: 'all',
      cure: /ecmp_symmetric_reply/,
    },
    {
      spec: { policyRoutes: [{ ...policy, priority: 40_000 }] },
      field: 'policyRoutes[0].priority',
      value: '40000',
      cure: /0 to 32767/,
    },
    {
      spec: { policyRoutes: [{ ...policy, match: 'ip4.src ==' }] },
      field: 'policyRoutes[0].match',
      value: 'ip4.src ==',
      cure: /in place of the end/,
    },
    {
      spec: { policyRoutes: [{ ...policy, action: 'jump' }] },
      field: 'policyRoutes[0].action',
      value: 'jump',
      cure: /allow, drop or reroute/,
    },
    {
      spec: { policyRoutes: [{ ...policy, nextHopIP: '' }] },
      field: 'policyRoutes[0].nextHopIP',
      value: '',
      cure: /./,
    },
    {
      spec: { policyRoutes: [{ ...policy, nextHopIP: '10.1.0.9,fd00::1' }] },
      field: 'policyRoutes[0].nextHopIP',
      value: '10.1.0.9,fd00::1',
      cure: /one family/,
    },
    {
      spec: { policyRoutes: [policy, { ...policy, action: 'drop' }] },
      field: 'policyRoutes[1]',
      value: '10/ip4.src == 10.1.0.0/24',
      cure: /policyRoutes\[0\]/,
    },
    {
      spec: { vpcPeerings: [{ ...peering, remoteVpc: 'v1' }] },
      field: 'vpcPeerings[0].remoteVpc',
      value: 'v1',
      cure: /the very same/,
    },
    {
      spec: { vpcPeerings: [{ ...peering, remoteVpc: 'A/b' }] },
      field: 'vpcPeerings[0].remoteVpc',
      value: 'A/b',
      cure: /name of a Vpc/,
    },
    {
      spec: { vpcPeerings: [{ ...peering, localConnectIP: '169.254.0.1' }] },
      field: 'vpcPeerings[0].localConnectIP',
      value: '169.254.0.1',
      cure: /prefix length/,
    },
    {
      spec: { vpcPeerings: [{ ...peering, localConnectIP: '169.254.0.1/32' }] },
      field: 'vpcPeerings[0].localConnectIP',
      value: '169.254.0.1/32',
      cure: /room for both/,
    },
    {
      spec: { vpcPeerings: [peering, { ...peering, localConnectIP: '169.254.1.1/30' }] },
      field: 'vpcPeerings[1]',
      value: 'v2',
      cure: /vpcPeerings\[0\]/,
    },
  ])('refuses $value in $field, and nothing else', ({ spec, field, value, cure }) => {
    const { problems } = claim(spec)
    expect(problems).toEqual([{ field: `spec.${field}`, value, cure: expect.stringMatching(cure) as string }])
  })
})
