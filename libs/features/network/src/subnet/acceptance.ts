import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { kindOf, nameOf, type Owner } from '@kube-ovn/ipam'
import { routerPortName } from '@kube-ovn/ovn-names'
import { restoreLeasesOf } from '@kube-ovn/domains-control/restore'
import { isPublished, isSameNetwork } from '@kube-ovn/domains-control/topology'
import type { Network } from '@kube-ovn/domains-control/topology'
import { anywhere, opened } from '@kube-ovn/domains-control/addresses'
import type { ControlWorld } from '@kube-ovn/domains-control'

/** How far a subnet has come. */
export interface Acceptance {
  /** What its rows are made of. */
  readonly inEffect: Network | undefined
  /** What was accepted and takes effect once the object's status says so. */
  readonly accepted: Network | undefined
}

/**
 * Puts a network into effect, but not before the status of its object says so: then a controller that starts at any
 * moment, and every node, goes by what this one went by.
 *
 * Addresses of a network that is new can be asked for at once; their ports wait for the switch.
 *
 * @param wanted what the specification means; `undefined` while it can not be used, which leaves in effect what was
 */
export function acceptNetwork(
  name: string,
  wanted: Network | undefined,
  object: Subnet | undefined,
  world: ControlWorld,
): Acceptance {
  const before = world.networks.get(name)
  const waiting = world.accepted.get(name)
  world.accepted.delete(name)
  // What no status can say is not waited for.
  const isSaid = (network: Network) =>
    !world.definitions.keeps(subnetResource, 'inEffect') || isPublished(network, object)
  if (wanted === undefined) {
    if (waiting !== undefined && isSaid(waiting)) startNetwork(waiting, world)
    // Others may have been refused for its sake.
    else if (waiting !== undefined) world.raise('network', name)
    return { inEffect: world.networks.get(name), accepted: undefined }
  }
  const isSettled = before !== undefined && isSameNetwork(before, wanted) && waiting === undefined
  if (isSettled || isSaid(wanted)) {
    startNetwork(wanted, world)
    return { inEffect: wanted, accepted: undefined }
  }
  world.accepted.set(name, wanted)
  if (before === undefined) startNetwork(wanted, world)
  return { inEffect: before, accepted: wanted }
}

/** Ends a network whose object is gone. */
export function endNetwork(name: string, world: ControlWorld): void {
  world.routerMacs.delete(routerPortName(world.settings.clusterRouter, name))
  const wasAccepted = world.accepted.delete(name)
  const wasInEffect = world.networks.delete(name)
  if (wasInEffect) world.ipam.removeSubnet(name)
  if (wasAccepted || wasInEffect) world.raise('network', name)
}

function startNetwork(network: Network, world: ControlWorld): void {
  const before = world.networks.get(network.name)
  world.networks.set(network.name, network)
  if (before !== undefined && isSameNetwork(before, network)) return
  const { lost } = world.ipam.setSubnet({
    name: network.name,
    cidrs: network.cidrs,
    gateways: network.gateways,
    excludeIps: network.excludeIps,
  })
  if (before === undefined) restoreLeasesOf(network.name, world)
  // Pods whose addresses the subnet has no more go on with them, and are told, as are users who reserved some.
  for (const { owner } of lost) if (isForPod(owner)) world.waiters.wait(nameOf(owner), [anywhere])
  world.raise('network', network.name)
  opened(network.name, world)
}

function isForPod(owner: Owner): boolean {
  return ['pod', 'statefulset-pod', 'vm', 'reservation'].includes(kindOf(owner))
}
