import type { ObjectChange } from '@kube-ovn/kube'
import { ownerOf } from '@kube-ovn/ipam'
import { ipResource, subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { logicalSwitch, querierPort, querierPortName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import {
  allocating,
  holdSubnetAddress,
  subnetAddressTriggers,
  type Allocation,
} from '@kube-ovn/domains-control/addresses'
import { subnetBegins, subnetSays, unusable } from '@kube-ovn/domains-control/topology'
import { desiredMulticast, type MulticastSnapshot } from './desired.ts'

/** Gives each subnet that snoops multicast the source of its queries. */
export const subnetMulticast: ControlFeature<string, MulticastSnapshot | typeof unusable, MulticastFacts> = {
  name: 'subnet-multicast',
  kinds: [querierPort],
  mayOwn: (subnet, { id }) => isNamedAfter(subnet, id),
  about: { resource: subnetResource },
  memberships: [{ kind: logicalSwitch.name, column: 'ports' }],
  rights: [
    { resource: ipResource, verbs: ['create', 'patch', 'delete'] },
    { resource: subnetResource, subresource: 'status', verbs: ['patch'] },
  ],
  triggers: [
    subnetBegins,
    subnetSays(({ mcastQuerierIP, mcastQuerierMAC }) => [mcastQuerierIP, mcastQuerierMAC]),
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) => (isOn(old) === isOn(current) ? [] : [key]),
    },
    ...subnetAddressTriggers('querier'),
  ],
  observe: observeMulticast,
  allocate: (subnet, facts, world) =>
    allocating(world, ownerOf('querier', subnet), (allocation) => holdQuerier(subnet, facts, allocation)),
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredMulticast(snapshot)
  },
}

interface MulticastFacts {
  readonly isWanted: boolean
  /** Whether nothing can be said of the subnet at present. */
  readonly isUnusable: boolean
  readonly saysQuerier: boolean
}

function isOn(subnet: Subnet | undefined): boolean {
  return subnet?.spec?.enableMulticastSnoop === true
}

function observeMulticast(subnet: string, world: ControlWorld): MulticastFacts {
  const object = world.subnets.get(subnet)
  const attachment = world.attachments.get(subnet)
  return {
    isWanted: isOn(object) && attachment?.hasSwitch === true,
    isUnusable: isOn(object) && attachment === undefined,
    saysQuerier: (object?.status?.mcastQuerierIP ?? '') !== '',
  }
}

function holdQuerier(
  subnet: string,
  facts: MulticastFacts | undefined,
  allocation: Allocation,
): MulticastSnapshot | typeof unusable | undefined {
  if (facts?.isUnusable === true) return unusable
  const nic = facts?.isWanted === true ? querierPortName(subnet) : undefined
  const address = holdSubnetAddress({ kind: 'querier', subnet, nic }, allocation)
  const saysQuerier = facts?.saysQuerier === true
  if (nic === undefined && address.records.length === 0 && !saysQuerier) return undefined
  return { subnet, address, saysQuerier }
}
