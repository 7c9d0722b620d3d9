import { vlanResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { observedOf } from '@kube-ovn/domains-control'
import { tagOf } from '@kube-ovn/domains-control/topology'
import { desiredVlan, type VlanSnapshot } from './desired.ts'

/** Completes each Vlan, and says who is on it and whether it can be used. */
export const vlan: ControlFeature<string, VlanSnapshot> = {
  name: 'vlan',
  kinds: [],
  rights: [
    { resource: vlanResource, verbs: ['patch'] },
    { resource: vlanResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [{ on: 'object', resource: vlanResource, keys: (change) => [change.key] }],
  observe: observeVlan,
  desired: (_name, snapshot) => (snapshot === undefined ? nothing : desiredVlan(snapshot)),
}

function observeVlan(name: string, world: ControlWorld): VlanSnapshot | undefined {
  const object = world.vlans.get(name)
  const state = world.vlanStates.get(name)
  if (object === undefined || state === undefined) return undefined
  const { provider, id } = tagOf(object, world.settings)
  const written = { provider, ...(id === (object.spec?.id ?? 0) ? {} : { id }) }
  const writesSpec = provider !== object.spec?.provider || 'id' in written
  return {
    ...{ name, object, state, written },
    subnets: world.networks.find('vlan', name).map((network) => network.name),
    observed: observedOf(vlanResource, object, world, writesSpec),
    now: world.now(),
  }
}
