import { checkLength, parseCidr, type Cidr } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { checkMatch } from '@kube-ovn/ovn-match'
import { subnetRuleKey, type SubnetRule } from '@kube-ovn/policy'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { aspectOf, unusable } from './aspect.ts'
import { inSubnet, SubnetInvalidError } from './errors.ts'

/** What a Subnet lets through: of its specification what only ACLs are made of. */
export interface Isolation {
  /** Drops what comes from elsewhere, but for the nodes and `allowSubnets`. */
  readonly isPrivate: boolean
  readonly allowSubnets: readonly Cidr[]
  /** Lets ports of the subnet talk to each other whatever `rules` say. */
  readonly allowsInside: boolean
  readonly rules: readonly SubnetRule[]
}

const directions = ['from-lport', 'to-lport'] as const
const actions = ['allow', 'allow-related', 'allow-stateless', 'drop', 'reject'] as const

/** ovn-nb(5), ACL, priority. */
const highestPriority = 32_767

/**
 * Reads what a Subnet lets through.
 *
 * @throws SubnetInvalidError for what the Northbound would refuse, or what would make no flows
 */
export function resolveIsolation(subnet: string, spec: SubnetSpec): Isolation {
  return {
    isPrivate: spec.private === true,
    allowSubnets: inSubnet(subnet, () => {
      checkLength(
        spec.allowSubnets ?? [],
        'spec.allowSubnets',
        'write longer prefixes together as a shorter one',
      )
      return (spec.allowSubnets ?? []).map((text, index) => parseCidr(text, `spec.allowSubnets[${index}]`))
    }),
    allowsInside: spec.allowEWTraffic === true,
    rules: rulesOf(subnet, spec.acls ?? []),
  }
}

type WrittenAcl = NonNullable<SubnetSpec['acls']>[number]

function rulesOf(subnet: string, acls: readonly WrittenAcl[]): readonly SubnetRule[] {
  inSubnet(subnet, () => checkLength(acls, 'spec.acls', 'name address sets and port groups in their matches'))
  const rules = new Map<string, SubnetRule>()
  for (const [index, acl] of acls.entries()) {
    const field = `spec.acls[${index}]`
    const rule = ruleOf(subnet, acl, field)
    const same = rules.getOrInsert(subnetRuleKey(rule), rule)
    if (same.action === rule.action) continue
    const cure = `another rule of the same direction, priority and match says ${same.action}: remove one of them`
    throw new SubnetInvalidError({ subnet, field: `${field}.action`, value: rule.action, cure })
  }
  return [...rules.values()]
}

function ruleOf(subnet: string, acl: WrittenAcl, field: string): SubnetRule {
  const { direction: written = '', priority = 0, match = '', action: done = '' } = acl
  const refuse = (part: string, value: string, cure: string): SubnetInvalidError =>
    new SubnetInvalidError({ subnet, field: `${field}.${part}`, value, cure })
  const direction = directions.find((known) => known === written)
  if (direction === undefined) throw refuse('direction', written, `write ${directions.join(' or ')}`)
  if (priority < 0 || priority > highestPriority)
    throw refuse('priority', String(priority), `choose one from 0 to ${highestPriority}`)
  const action = actions.find((known) => known === done)
  if (action === undefined) throw refuse('action', done, `write one of ${actions.join(', ')}`)
  inSubnet(subnet, () => checkMatch(match, `${field}.match`))
  return { direction, priority, match, action }
}

/** What Subnets let through, of those that do not let everything through. */
export const isolations = rowTable({
  name: 'isolations',
  of: subnets,
  row: aspectOf((name, spec) =>
    spec.private === true || (spec.acls ?? []).length > 0 ? resolveIsolation(name, spec) : undefined,
  ),
  indexes: {
    // One that can not be used keeps its ACLs, and may have been private.
    private: (isolation: Isolation | typeof unusable) =>
      isolation === unusable || isolation.isPrivate ? [''] : [],
  },
})
