import { aclPriority, aclTier } from '@kube-ovn/ovn-names'
import { expect, it } from 'vitest'
import { policyTiers } from './policy-tiers.ts'

const firstOf = (wanted: number): readonly number[] =>
  policyTiers.find(({ tier }) => tier === wanted)?.rows.map(({ first }) => first) ?? []

it('has each priority of ACLs, but of those that only have OVN ask the next tier', () => {
  const { passedOn, adminPassedOn: _, ...priorities } = aclPriority
  const shown = new Set(policyTiers.flatMap(({ rows }) => rows.map(({ first }) => first)))
  expect(Object.values(priorities).filter((priority) => !shown.has(priority))).toEqual([])
  expect(shown.has(passedOn)).toBe(false)
})

it('has what is in two tiers in both', () => {
  const { securityGroupRules, securityGroupBase, sameSecurityGroup, denyAll } = aclPriority
  for (const tier of [aclTier.policy, aclTier.baseline])
    expect(firstOf(tier)).toEqual(
      expect.arrayContaining([securityGroupRules, securityGroupBase, sameSecurityGroup, denyAll]),
    )
})
