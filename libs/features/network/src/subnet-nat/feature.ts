import { subnetResource, type SubnetStatus } from '@kube-ovn/kube-api'
import { digestOf, nothing, type Desired } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { subnetBegins, subnetSays, unusable, type NatRule } from '@kube-ovn/domains-control/topology'

interface NatSnapshot {
  readonly rules: readonly PublishedRule[]
}

/** As the status of a Subnet has it, for nodes to read. */
type PublishedRule = NonNullable<SubnetStatus['natOutgoingPolicyRules']>[number]

/** Publishes the exceptions to natOutgoing of a subnet, by which the packet filters of the nodes go. */
export const subnetNatRules: ControlFeature<string, NatSnapshot> = {
  name: 'subnet-nat',
  kinds: [],
  rights: [{ resource: subnetResource, subresource: 'status', verbs: ['patch'] }],
  triggers: [subnetBegins, subnetSays(({ natOutgoingPolicyRules }) => natOutgoingPolicyRules ?? [])],
  observe: observeNatRules,
  desired: (subnet, snapshot) => (snapshot === undefined ? nothing : desiredNatRules(subnet, snapshot)),
}

/** Reads the rules of a subnet; nothing while it can not be used, which leaves what the status says. */
function observeNatRules(subnet: string, world: ControlWorld): NatSnapshot | undefined {
  const rules = world.natRules.get(subnet)
  if (rules === unusable || world.subnets.get(subnet) === undefined) return undefined
  if (world.attachments.get(subnet) === undefined) return undefined
  const exceptions = rules !== undefined && world.networks.get(subnet)?.natOutgoing === true ? rules : []
  return {
    rules: exceptions.map(({ match, action }, index) => ({
      ruleID: ruleId(subnet, index, { match, action }),
      match,
      action,
    })),
  }
}

/** As upstream makes them, so that nodes of either version can read the status. */
function ruleId(subnet: string, index: number, rule: NatRule): string {
  return digestOf(`${subnet}${index}${JSON.stringify(rule)}`, 12)
}

function desiredNatRules(name: string, { rules }: NatSnapshot): Desired {
  const status = { natOutgoingPolicyRules: rules.length === 0 ? null : rules }
  return {
    ...nothing,
    patches: [{ resource: subnetResource, name, subresource: 'status', merge: { status } }],
  }
}
