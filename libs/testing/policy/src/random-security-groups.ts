import type { SecurityGroup, SecurityGroupRule } from '@kube-ovn/kube-api'
import type { Family } from '@kube-ovn/ip'
import { drawPrefix } from './random-parts.ts'
import { Random } from './random.ts'

/** The groups with what is seldom written: rules that pass, about SCTP, or about some of the addresses of a pod. */
export function withSeldomRules(seed: number, groups: readonly SecurityGroup[]): readonly SecurityGroup[] {
  // Of its own, so that the rest of a world is what it was.
  const random = new Random(seed ^ 0x5e1d)
  return groups.map((group) => {
    const { spec = {} } = group
    const change = (rule: SecurityGroupRule): SecurityGroupRule => seldom(random, rule, spec.tier ?? 0)
    const { ingressRules = [], egressRules = [] } = spec
    return {
      ...group,
      spec: { ...spec, ingressRules: ingressRules.map(change), egressRules: egressRules.map(change) },
    }
  })
}

function seldom(random: Random, rule: SecurityGroupRule, tier: number): SecurityGroupRule {
  const family: Family = rule.ipVersion === 'ipv4' ? 4 : 6
  const isPorted = rule.portRangeMin !== undefined
  return {
    ...rule,
    // Nothing comes after tier 1.
    ...(random.chance(0.15) && tier === 0 ? { policy: 'pass' } : {}),
    ...(random.chance(0.2) && isPorted ? { protocol: 'sctp' } : {}),
    ...(random.chance(0.2)
      ? {
          localAddress: drawPrefix(random, family),
          sourcePortRangeMin: random.of(1, 1, 61_000),
          sourcePortRangeMax: 65_535,
        }
      : {}),
  }
}
