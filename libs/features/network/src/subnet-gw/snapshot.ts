import { formatIp } from '@kube-ovn/ip'
import { nodePortName } from '@kube-ovn/ovn-names'
import { familiesOf } from '@kube-ovn/domains-control/topology'
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
  if (network.isJoin || !network.isDefaultVpc) return undefined
  const lease = world.ipam.lease(nodePortName(node))
  const nextHops = familiesOf(network).flatMap(({ family }) => {
    const address = family === 4 ? lease?.v4 : lease?.v6
    return address === undefined ? [] : [{ family, address: formatIp(address) }]
  })
  return { subnet, node, vpc: network.vpc, nextHops }
}
