import { subnetResource, type SubnetStatus } from '@kube-ovn/kube-api'
import { digestOf, nothing, type Desired } from '@kube-ovn/reconcile'
import type { NatRule } from '@kube-ovn/domains-control/topology'

export interface NatSnapshot {
  readonly rules: readonly PublishedRule[]
}

/** As the status of a Subnet has it, for nodes to read. */
type PublishedRule = NonNullable<SubnetStatus['natOutgoingPolicyRules']>[number]

/** Gives each rule the name by which nodes know it. */
export function publishedRules(subnet: string, rules: readonly NatRule[]): readonly PublishedRule[] {
  return rules.map(({ match, action }, index) => ({
    ruleID: ruleId(subnet, index, { match, action }),
    match,
    action,
  }))
}

/** As upstream makes them, so that nodes of either version can read the status. */
function ruleId(subnet: string, index: number, rule: NatRule): string {
  return digestOf(`${subnet}${index}${JSON.stringify(rule)}`, 12)
}

/** Computes what the status says of the exceptions to natOutgoing. */
export function desiredNatRules(name: string, { rules }: NatSnapshot): Desired {
  const status = { natOutgoingPolicyRules: rules.length === 0 ? null : rules }
  return {
    ...nothing,
    patches: [{ resource: subnetResource, name, subresource: 'status', merge: { status } }],
  }
}
