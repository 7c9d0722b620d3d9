import { familiesOf, isOccupied, joinAddress } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { subnetNodePortGroupName } from '@kube-ovn/ovn-names'
import type { GatewaySnapshot } from './desired.ts'

/** The subnet is there but can not be used at present: what it had before stays. */
export const unsettled = 'unsettled'

/** Subnet and node are there, and have rows that they are not to have. */
export const unused = 'unused'

/** A subnet's name and a node's, as a key. Neither holds a slash. */
export function gatewayKey(subnet: string, node: string): string {
  return `${subnet}/${node}`
}

export function subnetOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

export function observeGateway(
  key: string,
  world: ControlWorld,
): GatewaySnapshot | typeof unsettled | typeof unused | undefined {
  const [subnet = '', node = ''] = key.split('/')
  if (world.subnets.get(subnet) === undefined || world.nodes.get(node) === undefined) return undefined
  const attachment = world.attachments.get(subnet)
  const prefixes = world.prefixes.get(subnet)
  if (attachment === undefined || prefixes === undefined) return unsettled
  const [group] = world.northbound.find('Port_Group', 'name', subnetNodePortGroupName(subnet, node))
  if (!attachment.leavesByNode) return group && unused
  // A group with ports of which no IP tells is one of those that are looked at together.
  if (!isOccupied(subnet, node, world)) return group?.ports.length === 0 ? unused : undefined
  const nextHops = familiesOf(prefixes).flatMap(({ family }) => {
    const address = joinAddress(node, family, world)
    return address === undefined ? [] : [{ family, address }]
  })
  return { subnet, node, vpc: attachment.vpc, nextHops }
}
