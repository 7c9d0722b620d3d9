import { subnetResource } from '@kube-ovn/kube-api'
import { localnetPort, logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { subnetBegins, unusable } from '@kube-ovn/domains-control/topology'
import { desiredLocalnet, type LocalnetSnapshot } from './desired.ts'

/** Connects the switch of each underlay subnet to its physical network. */
export const subnetLocalnet: ControlFeature<string, LocalnetSnapshot | typeof unusable> = {
  name: 'subnet-localnet',
  kinds: [localnetPort],
  mayOwn: (subnet, { id }) => isNamedAfter(subnet, id),
  about: { resource: subnetResource },
  memberships: [{ kind: logicalSwitch.name, column: 'ports' }],
  triggers: [subnetBegins],
  observe: observeLocalnet,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredLocalnet(snapshot)
  },
}

/** Reads what a subnet is on; `unusable` while that can not be said, which leaves the port as it is. */
function observeLocalnet(
  subnet: string,
  world: ControlWorld,
): LocalnetSnapshot | typeof unusable | undefined {
  const attachment = world.attachments.get(subnet)
  const prefixes = world.prefixes.get(subnet)
  if (attachment === undefined || prefixes === undefined)
    return world.subnets.get(subnet) === undefined ? undefined : unusable
  if (attachment.vlan === '') return undefined
  const tag = world.vlansInEffect.get(attachment.vlan)
  return tag === undefined ? unusable : { subnet, prefixes, tag }
}
