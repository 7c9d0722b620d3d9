import { apiVersion, providerNetworkResource, vlanResource } from '@kube-ovn/kube-api'
import type { VlanSpec } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { observedOf } from '@kube-ovn/domains-control'
import { builtInVlan, tagOf } from '@kube-ovn/domains-control/topology'
import { desiredVlan, type VlanSnapshot } from './desired.ts'

/** The Vlan of the default subnet, which is not there. */
interface MissingVlan {
  readonly name: string
  readonly spec: VlanSpec
}

/** Completes each Vlan, and says who is on it and whether it can be used. Makes that of the default subnet. */
export const vlan: ControlFeature<string, VlanSnapshot | MissingVlan> = {
  name: 'vlan',
  kinds: [],
  rights: [
    { resource: vlanResource, verbs: ['create', 'patch'] },
    { resource: vlanResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [
    { on: 'object', resource: vlanResource, keys: (change) => [change.key] },
    { on: 'object', resource: providerNetworkResource, keys: (_change, { settings }) => builtIn(settings) },
  ],
  initialKeys: ({ settings }) => builtIn(settings),
  observe: observeVlan,
  desired(_name, snapshot) {
    if (snapshot === undefined) return nothing
    return 'object' in snapshot ? desiredVlan(snapshot) : creation(snapshot)
  },
}

function builtIn({ defaultUnderlay }: ControlWorld['settings']): readonly string[] {
  return defaultUnderlay === undefined ? [] : [defaultUnderlay.vlan]
}

function creation({ name, spec }: MissingVlan): Desired {
  const create = { apiVersion, kind: vlanResource.kind, metadata: { name }, spec: { ...spec } }
  return { ...nothing, patches: [{ resource: vlanResource, name, create }] }
}

function observeVlan(name: string, world: ControlWorld): VlanSnapshot | MissingVlan | undefined {
  const object = world.vlans.get(name)
  if (object === undefined) {
    const spec = builtInVlan(name, world.settings)
    // Nobody is told that its network is not there, which is on its way.
    const isDue = spec !== undefined && world.providerNetworks.get(spec.provider) !== undefined
    return isDue ? { name, spec } : undefined
  }
  const state = world.vlanStates.get(name)
  if (state === undefined) return undefined
  const { provider, id } = tagOf(object, world.settings)
  const written = { provider, ...(id === (object.spec?.id ?? 0) ? {} : { id }) }
  const writesSpec = provider !== object.spec?.provider || 'id' in written
  return {
    ...{ name, object, state, written },
    subnets: world.attachments.keys('vlan', name),
    observed: observedOf(vlanResource, object, world, writesSpec),
    now: world.now(),
  }
}
