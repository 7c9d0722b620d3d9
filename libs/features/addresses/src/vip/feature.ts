import { vipLabel } from '@kube-ovn/annotations'
import { nodes, pods, type Pod } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { ipResource, subnetResource, vipResource, type Ip, type Subnet } from '@kube-ovn/kube-api'
import { logicalSwitch, nodePortName, podPortName, vipPort, vipVirtualPort } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { allocating, turnsOf, vipNic, vipOwner } from '@kube-ovn/domains-control/addresses'
import { holderOf } from '@kube-ovn/domains-control/pods'
import { storeIndex, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredVip } from './desired.ts'
import { vipsOf } from './parents.ts'
import { holdVip, observeVip } from './snapshot.ts'
import type { VipFacts, VipSnapshot } from './snapshot.ts'

/** Gives each Vip its addresses, and ports to those that are to have some. */
export const vip: ControlFeature<string, VipSnapshot, VipFacts> = {
  name: 'vip',
  kinds: [vipPort, vipVirtualPort],
  rights: [{ resource: vipResource, verbs: ['patch'] }],
  memberships: [{ kind: logicalSwitch.name, column: 'ports' }],
  mayOwn: (key, { id }) => id === key || id.startsWith(`${key}.`),
  triggers: [
    { on: 'object', resource: vipResource, keys: (change) => [change.key] },
    { on: 'object', resource: pods, keys: concerned },
    { on: 'signal', signal: 'ending', keys: (pod, world) => vipsOf(world.pods.get(pod)) },
    // Whose port has the name that one of the Vip's would have.
    { on: 'object', resource: nodes, keys: ({ key }, world) => existing([nodePortName(key)], world) },
    {
      on: 'object',
      resource: ipResource,
      keys: ({ key, old, new: current }: ObjectChange<Ip>, world) => {
        const [before, after] = [old?.spec?.podName ?? '', current?.spec?.podName ?? '']
        const isSame = old !== undefined && current !== undefined && before === after
        return isSame ? [] : existing([key, before, after], world)
      },
    },
    turnsOf('vip'),
    // Addresses may be those that a Pod gave back to a Vip.
    {
      on: 'signal',
      signal: 'addresses',
      keys: (subnet, world) => vipsIn(subnet, world).filter((name) => isLent(name, world)),
    },
    {
      on: 'object',
      resource: subnetResource,
      keys: (change: ObjectChange<Subnet>, world) => unplaced(change, world),
    },
  ],
  observe: observeVip,
  allocate: (name, facts, world) =>
    allocating(world, vipOwner(name), (allocation) => holdVip(name, facts, allocation)),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredVip(snapshot)),
}

/** Vips that a pod shares or borrows, and those that may not have a port because the pod has it. */
function concerned({ old, new: current }: ObjectChange<Pod>, world: ControlWorld): readonly string[] {
  const pod = current ?? old
  const { namespace, name } = pod === undefined ? noHolder : holderOf(pod, world.settings)
  return existing([...vipsOf(old), ...vipsOf(current), name, podPortName(namespace, name)], world)
}

const noHolder = { namespace: '', name: '' }

function existing(names: readonly string[], world: ControlWorld): readonly string[] {
  return names.filter((name) => world.vips.get(name) !== undefined)
}

function vipsIn(subnet: string, world: ControlWorld): readonly string[] {
  return world.vips.find(storeIndex.vipsBySubnet, subnet).map((object) => object.metadata.name)
}

function isLent(name: string, { vips }: ControlWorld): boolean {
  return (vips.get(name)?.metadata.labels?.[vipLabel.borrower] ?? '') !== ''
}

/** What a Vip without a subnet is told depends on whether there is an object of that name. */
function unplaced({ key, old, new: current }: ObjectChange<Subnet>, world: ControlWorld): readonly string[] {
  return old === undefined || current === undefined || current.metadata.deletionTimestamp !== undefined
    ? vipsIn(key, world).filter((name) => world.ipam.lease(vipNic(name)) === undefined)
    : []
}
