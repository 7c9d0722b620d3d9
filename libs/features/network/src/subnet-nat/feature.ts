import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { nothing, type Desired } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { subnetBegins, unusable, type NatRule } from '@kube-ovn/domains-control/topology'

interface NatSnapshot {
  readonly rules: readonly NatRule[]
}

/** Publishes the exceptions to natOutgoing of a subnet, by which the packet filters of the nodes go. */
export const subnetNatRules: ControlFeature<string, NatSnapshot> = {
  name: 'subnet-nat',
  kinds: [],
  rights: [{ resource: subnetResource, subresource: 'status', verbs: ['patch'] }],
  triggers: [
    subnetBegins,
    {
      on: 'object',
      resource: subnetResource,
      // What is in the status by the hand of somebody else.
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
        current !== undefined && textOf(old) !== textOf(current) ? [key] : [],
    },
  ],
  observe: observeNatRules,
  desired: (subnet, snapshot) => (snapshot === undefined ? nothing : desiredNatRules(subnet, snapshot)),
}

function textOf(subnet: Subnet | undefined): string {
  return JSON.stringify(subnet?.status?.natOutgoingPolicyRules ?? [])
}

/** Reads the rules of a subnet; nothing while it can not be used, which leaves what the status says. */
function observeNatRules(subnet: string, world: ControlWorld): NatSnapshot | undefined {
  const rules = world.natRules.get(subnet)
  if (rules === unusable || world.subnets.get(subnet) === undefined) return undefined
  const network = world.networks.get(subnet)
  if (network === undefined) return undefined
  return { rules: network.natOutgoing ? (rules ?? []) : [] }
}

function desiredNatRules(name: string, { rules }: NatSnapshot): Desired {
  const status = { natOutgoingPolicyRules: rules.length === 0 ? null : rules }
  return {
    ...nothing,
    patches: [{ resource: subnetResource, name, subresource: 'status', merge: { status } }],
  }
}
