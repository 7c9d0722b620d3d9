import { KubeOvnError } from '@kube-ovn/errors'
import { conditionType, isConditionTrue } from '@kube-ovn/kube-api'
import type { Subnet } from '@kube-ovn/kube-api'
import type { Network } from '../topology/network.ts'
import { allNodeAddresses } from '../topology/node-addresses.ts'
import { findConflict } from '../topology/subnet-conflicts.ts'
import { resolveSubnet } from '../topology/subnet-spec.ts'
import type { ControlWorld } from '../world.ts'

/**
 * Puts into effect, before anything is decided, the subnets that were in effect when the last process ended.
 *
 * Of two that contradict each other the one that was valid wins, then the older one: a restart changes nothing.
 */
export function restoreNetworks(world: ControlWorld): void {
  const addresses = allNodeAddresses(world.nodes.values())
  for (const subnet of [...world.subnets.values()].sort(byRank)) {
    const network = resolve(subnet, world)
    if (network === undefined || findConflict(network, [...world.networks.values()], addresses) !== undefined)
      continue
    world.networks.set(network.name, network)
    world.ipam.setSubnet(network)
  }
}

function resolve(subnet: Subnet, world: ControlWorld): Network | undefined {
  try {
    return resolveSubnet(subnet.metadata.name, subnet.spec ?? {}, world.settings).network
  } catch (error) {
    // Reported in its conditions by the feature, which meets it again.
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}

function byRank(a: Subnet, b: Subnet): number {
  return rank(a) < rank(b) ? -1 : 1
}

function rank(subnet: Subnet): string {
  const wasValid = isConditionTrue(subnet.status?.conditions, conditionType.validated)
  return [wasValid ? 0 : 1, subnet.metadata.creationTimestamp ?? '', subnet.metadata.name].join(' ')
}
