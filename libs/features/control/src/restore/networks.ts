import { KubeOvnError } from '@kube-ovn/errors'
import { formatIp, networkText, tryParseCidr } from '@kube-ovn/ip'
import { conditionType, isConditionTrue } from '@kube-ovn/kube-api'
import type { Subnet, SubnetSpec } from '@kube-ovn/kube-api'
import { routerPortName } from '@kube-ovn/ovn-names'
import { familiesOf } from '../topology/network.ts'
import type { Network } from '../topology/network.ts'
import { allNodeAddresses } from '../topology/node-addresses.ts'
import { findConflict } from '../topology/subnet-conflicts.ts'
import { resolveSubnet } from '../topology/subnet-spec.ts'
import type { ControlWorld } from '../world.ts'

interface Candidate {
  readonly rank: string
  readonly network: Network
}

/**
 * Puts into effect, before anything is decided, the subnets that were in effect when the last process ended.
 *
 * Of two that contradict each other the one that is in the Northbound as it is specified wins, then the one that was
 * valid, then the older one. What was edited into something useless stays in effect as the Northbound has it. So a
 * restart changes nothing.
 */
export function restoreNetworks(world: ControlWorld): void {
  const addresses = allNodeAddresses(world.nodes.values())
  const candidates = [...world.subnets.values()].flatMap((subnet) => candidatesFor(subnet, world))
  for (const { network } of candidates.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (world.networks.has(network.name)) continue
    if (findConflict(network, [...world.networks.values()], addresses) !== undefined) continue
    world.networks.set(network.name, network)
    world.ipam.setSubnet(network)
  }
}

/** What a subnet may mean: what it says, or else what it was before. */
function candidatesFor(subnet: Subnet, world: ControlWorld): readonly Candidate[] {
  const { name, creationTimestamp = '' } = subnet.metadata
  const specified = resolve(name, subnet.spec ?? {}, world)
  const former = formerNetwork(subnet, world)
  const isSettled =
    specified !== undefined && former !== undefined && routerAddresses(specified) === routerAddresses(former)
  const wasValid = isConditionTrue(subnet.status?.conditions, conditionType.validated)
  const rank = (order: number): string => [order, creationTimestamp, name].join(' ')
  return [
    ...(specified === undefined
      ? []
      : [{ rank: rank(isSettled ? 0 : wasValid ? 1 : 3), network: specified }]),
    ...(former === undefined || isSettled ? [] : [{ rank: rank(2), network: former }]),
  ]
}

/** Reads from the router's port to a subnet what the subnet meant when the port was written. */
function formerNetwork({ metadata: { name }, spec }: Subnet, world: ControlWorld): Network | undefined {
  const port = routerPortName(world.settings.clusterRouter, name)
  const networks = world.northbound.find('Logical_Router_Port', 'name', port)[0]?.networks ?? []
  const cidrs = networks.flatMap((text) => tryParseCidr(text) ?? [])
  if (cidrs.length === 0) return undefined
  const addressing = {
    cidrBlock: cidrs.map(networkText).join(','),
    gateway: cidrs.map(({ address }) => formatIp(address)).join(','),
    ...(spec?.provider === undefined ? {} : { provider: spec.provider }),
  }
  return (
    resolve(name, { ...addressing, excludeIps: spec?.excludeIps ?? [] }, world) ??
    resolve(name, addressing, world)
  )
}

function resolve(name: string, spec: SubnetSpec, world: ControlWorld): Network | undefined {
  try {
    return resolveSubnet(name, spec, world.settings).network
  } catch (error) {
    // Reported in its conditions by the feature, which meets it again.
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}

function routerAddresses(network: Network): string {
  return familiesOf(network)
    .map(({ routerAddress }) => routerAddress)
    .join()
}
