import type { Cidr, Ip } from '@kube-ovn/ip'
import { cidrsOf, isDefaultVpc, kept, partOfVpc } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import type { RoutedPrefix, RoutesSnapshot } from './desired.ts'

/** Reads what decides about the routes of a VPC. */
export function observeRoutes(vpc: string, world: ControlWorld): RoutesSnapshot | typeof kept | undefined {
  return partOfVpc(vpc, world, () => {
    const { settings } = world
    const routes = world.routerRoutes.get(vpc) ?? []
    const policyHops = policyHopsOf(vpc, world)
    if (!isDefaultVpc(vpc, settings))
      return {
        ...{ vpc, routes, policyHops, nodeHops: [] },
        ...{ prefixes: prefixesOf(vpc, world), externals: externalsOf(vpc, world) },
      }
    // Until the nodes have a network, what there is stays.
    const join = world.prefixes.get(settings.nodeSwitch.name)
    if (join === undefined) return kept
    const { v4, v6 } = join.gateways
    const nodeHops = [v4, v6].filter((ip) => ip !== undefined)
    return { vpc, routes, policyHops, nodeHops, prefixes: [], externals: [] }
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

/** What the user's policies lead to, and what those of connected underlay subnets do: the gateway of the physical network. */
function policyHopsOf(vpc: string, world: ControlWorld): readonly Ip[] {
  const gateways = world.interconnections.keys('family', '6').flatMap((subnet) => {
    const gateway = world.prefixes.get(subnet)?.gateways.v6
    return gateway === undefined || world.attachments.get(subnet)?.vpc !== vpc ? [] : [gateway]
  })
  return [...(world.routerPolicyHops.get(vpc) ?? []), ...gateways]
}

function externalsOf(vpc: string, world: ControlWorld): readonly Cidr[] {
  return (world.routerExternals.get(vpc) ?? []).flatMap(({ subnet }) => {
    const prefixes = world.prefixes.get(subnet)
    return prefixes === undefined ? [] : cidrsOf(prefixes)
  })
}
