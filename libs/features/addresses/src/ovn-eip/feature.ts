import { nodes, pods, type Pod } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { ipResource, ovnEipResource, subnetResource, vipResource, type Subnet } from '@kube-ovn/kube-api'
import { eipPort, logicalSwitch, nodePortName, podPortName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { allocating, eipNic, eipOwner, turnsOf } from '@kube-ovn/domains-control/addresses'
import { holderOf } from '@kube-ovn/domains-control/pods'
import { storeIndex, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredEip } from './desired.ts'
import { holdEip, observeEip, type EipFacts, type OvnEipSnapshot } from './snapshot.ts'

/** Gives each OvnEip its addresses, and a port to those that are for a node. */
export const ovnEip: ControlFeature<string, OvnEipSnapshot, EipFacts> = {
  name: 'ovn-eip',
  kinds: [eipPort],
  rights: [
    { resource: ovnEipResource, verbs: ['patch'] },
    { resource: ovnEipResource, subresource: 'status', verbs: ['patch'] },
  ],
  memberships: [{ kind: logicalSwitch.name, column: 'ports' }],
  mayOwn: (key, { id }) => id === key,
  triggers: [
    { on: 'object', resource: ovnEipResource, keys: ({ key }) => [key] },
    // Whose port has the name that one of the OvnEip's would have.
    { on: 'object', resource: pods, keys: (change: ObjectChange<Pod>, world) => namesake(change, world) },
    {
      on: 'object',
      resource: nodes,
      keys: ({ key }, world) => [...existing(nodePortName(key), world), ...existing(key, world)],
    },
    { on: 'object', resource: vipResource, keys: ({ key }, world) => existing(key, world) },
    { on: 'object', resource: ipResource, keys: ({ key }, world) => existing(key, world) },
    turnsOf('eip'),
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>, world) =>
        old === undefined || current === undefined || current.metadata.deletionTimestamp !== undefined
          ? waitingIn(key, world)
          : [],
    },
  ],
  observe: observeEip,
  allocate: (name, facts, world) =>
    allocating(world, eipOwner(name), (allocation) => holdEip(name, facts, allocation)),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredEip(snapshot)),
}

function namesake({ old, new: current }: ObjectChange<Pod>, world: ControlWorld): readonly string[] {
  const pod = current ?? old
  if (pod === undefined) return []
  const { namespace, name } = holderOf(pod, world.settings)
  return existing(podPortName(namespace, name), world)
}

function existing(name: string, world: ControlWorld): readonly string[] {
  return world.ovnEips.get(name) === undefined ? [] : [name]
}

/** Those that have no address, and ask for one there. */
function waitingIn(subnet: string, world: ControlWorld): readonly string[] {
  const unnamed = subnet === world.settings.externalSubnet ? [''] : []
  return [subnet, ...unnamed]
    .flatMap((name) => world.ovnEips.keys(storeIndex.eipsBySubnet, name))
    .filter((name) => world.ipam.lease(eipNic(name)) === undefined)
}
