import { subnetResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { subnetBegins, subnetSays, unusable } from '@kube-ovn/domains-control/topology'
import { desiredNatRules, publishedRules, type NatSnapshot } from './desired.ts'

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
  return { rules: publishedRules(subnet, exceptions) }
}
