import { familiesOf } from '../topology/network.ts'
import type { ControlWorld } from '../world.ts'
import type { VpcSnapshot } from './desired.ts'

/** Reads what decides about a VPC. Only the default VPC is kept; others are not of this controller's concern. */
export function observeVpc(name: string, world: ControlWorld): VpcSnapshot | undefined {
  const { settings } = world
  if (name !== settings.clusterRouter) return undefined
  const networks = [...world.networks.values()].filter((network) => network.vpc === name)
  return {
    name,
    defaultSubnet: settings.defaultSubnet.name,
    subnets: networks.map((network) => network.name).sort(),
    overlayCidrs: networks.flatMap(familiesOf).map(({ family, cidr }) => ({ family, cidr })),
  }
}
