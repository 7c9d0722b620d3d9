import { familiesOf, isOccupied, joinAddress } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import type { GatewaySnapshot } from './desired.ts'

/** The subnet is there but can not be used at present: what it had before stays. */
export const unsettled = 'unsettled'

/** A subnet's name and a node's, as a key. Neither holds a slash. */
export function gatewayKey(subnet: string, node: string): string {
  return `${subnet}/${node}`
}

export function observeGateway(
  key: string,
  world: ControlWorld,
): GatewaySnapshot | typeof unsettled | undefined {
  const [subnet = '', node = ''] = key.split('/')
  if (world.subnets.get(subnet) === undefined || world.nodes.get(node) === undefined) return undefined
  const network = world.networks.get(subnet)
  if (network === undefined) return unsettled
  const { isJoin, isDefaultVpc, isRouted, isInterconnected } = network
  if (isJoin || !isDefaultVpc || !isRouted || isInterconnected) return undefined
  if ((world.gatewayStates.get(subnet)?.carriers.length ?? 0) > 0) return undefined
  if (!isOccupied(subnet, node, world)) return undefined
  const nextHops = familiesOf(network).flatMap(({ family }) => {
    const address = joinAddress(node, family, world)
    return address === undefined ? [] : [{ family, address }]
  })
  return { subnet, node, vpc: network.vpc, nextHops }
}
