import { cidrsOf, isDefaultVpc, kept, partOfVpc } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import type { RoutedPrefix, RoutesSnapshot } from './desired.ts'

/** Reads what decides about the routes of a VPC. */
export function observeRoutes(vpc: string, world: ControlWorld): RoutesSnapshot | typeof kept | undefined {
  return partOfVpc(vpc, world, ({ routes }) => {
    const { settings } = world
    if (!isDefaultVpc(vpc, settings)) return { vpc, routes, nodeHops: [], prefixes: prefixesOf(vpc, world) }
    // Until the nodes have a network, what there is stays.
    const join = world.networks.get(settings.nodeSwitch.name)
    if (join === undefined) return kept
    const { v4, v6 } = join.gateways
    return { vpc, routes, nodeHops: [v4, v6].filter((ip) => ip !== undefined), prefixes: [] }
  })
}

function prefixesOf(vpc: string, world: ControlWorld): readonly RoutedPrefix[] {
  return world.networks.find('vpc', vpc).flatMap((network) => {
    if (!network.isRouted) return []
    const table = world.routeTables.get(network.name) ?? ''
    return cidrsOf(network).flatMap((cidr) => {
      const gateway = cidr.family === 4 ? network.gateways.v4 : network.gateways.v6
      return gateway === undefined ? [] : [{ cidr, gateway, table }]
    })
  })
}
