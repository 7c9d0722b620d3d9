import { readPortVips, vipAnnotations } from '@kube-ovn/annotations'
import { pods, type Pod } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, vipResource } from '@kube-ovn/kube-api'
import type { Subnet, Vip } from '@kube-ovn/kube-api'
import { logicalSwitch, subnetVipPort, subnetVipPortName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { desiredSubnetVips } from './desired.ts'
import { observeSubnetVips, unsettled } from './snapshot.ts'
import type { SubnetVipSnapshot } from './snapshot.ts'

/** Keeps a virtual port for each of a subnet's `spec.vips`. */
export const subnetVip: ControlFeature<string, SubnetVipSnapshot | typeof unsettled> = {
  name: 'subnet-vip',
  kinds: [subnetVipPort],
  mayOwn: (subnet, { id }) => id.startsWith(subnetVipPortName(subnet, '')),
  memberships: [{ kind: logicalSwitch.name, column: 'ports' }],
  triggers: [
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
        [old, current].some((subnet) => (subnet?.spec?.vips ?? []).length > 0) ? [key] : [],
    },
    {
      on: 'object',
      resource: pods,
      keys: ({ old, new: current }: ObjectChange<Pod>, world) =>
        mayHaveVips(old) || mayHaveVips(current) ? subnetsWithVips(world) : [],
    },
    {
      on: 'signal',
      signal: 'ending',
      keys: (pod, world) => (mayHaveVips(world.pods.get(pod)) ? subnetsWithVips(world) : []),
    },
    {
      on: 'object',
      resource: vipResource,
      keys: ({ old, new: current }: ObjectChange<Vip>, world) =>
        [old, current].map((vip) => vip?.spec?.subnet ?? '').filter((subnet) => hasVips(subnet, world)),
    },
  ],
  observe: observeSubnetVips,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unsettled ? { ...nothing, hold: true } : desiredSubnetVips(snapshot)
  },
}

/** Whether a pod may have other addresses beside its own. */
function mayHaveVips(pod: Pod | undefined): boolean {
  const { annotations } = pod?.metadata ?? {}
  return annotations?.[vipAnnotations.shared.key] !== undefined || readPortVips(annotations).length > 0
}

function subnetsWithVips(world: ControlWorld): readonly string[] {
  return [...world.subnets.values()]
    .map(({ metadata }) => metadata.name)
    .filter((subnet) => hasVips(subnet, world))
}

function hasVips(subnet: string, world: ControlWorld): boolean {
  return (world.subnets.get(subnet)?.spec?.vips ?? []).length > 0
}
