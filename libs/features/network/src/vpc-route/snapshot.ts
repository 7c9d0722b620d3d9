import type { Cidr } from '@kube-ovn/ip'
import { cidrsOf, isDefaultVpc, kept, partOfVpc } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import type { RoutedPrefix, RoutesSnapshot } from './desired.ts'

/** Reads what decides about the routes of a VPC. */
export function observeRoutes(vpc: string, world: ControlWorld): RoutesSnapshot | typeof kept | undefined {
  return partOfVpc(vpc, world, () => {
    const { settings } = world
    const routes = world.routerRoutes.get(vpc) ?? []
    if (!isDefaultVpc(vpc, settings))
      return {
        ...{ vpc, routes, nodeHops: [] },
        ...{ prefixes: prefixesOf(vpc, world), externals: externalsOf(vpc, world) },
      }
    // Until the nodes have a network, what there is stays.
    const join = world.prefixes.get(settings.nodeSwitch.name)
    if (join === undefined) return kept
    const { v4, v6 } = join.gateways
    return { vpc, routes, nodeHops: [v4, v6].filter((ip) => ip !== undefined), prefixes: [], externals: [] }
  })
}

function prefixesOf(vpc: string, world: ControlWorld): readonly RoutedPrefix[] {
  return world.attachments.find('vpc', vpc).flatMap(({ name, isRouted }) => {
    const prefixes = world.prefixes.get(name)
    if (!isRouted || prefixes === undefined) return []
    const table = world.routeTables.get(name) ?? ''
    return cidrsOf(prefixes).flatMap((cidr) => {
      const gateway = cidr.family === 4 ? prefixes.gateways.v4 : prefixes.gateways.v6
      return gateway === undefined ? [] : [{ cidr, gateway, table }]
    })
  })
}

function externalsOf(vpc: string, world: ControlWorld): readonly Cidr[] {
  return (world.routerExternals.get(vpc) ?? []).flatMap(({ subnet }) => {
    const prefixes = world.prefixes.get(subnet)
    return prefixes === undefined ? [] : cidrsOf(prefixes)
  })
}
