import { familiesOf } from '../topology/network.ts'
import type { ControlWorld } from '../world.ts'
import type { VpcSnapshot } from './desired.ts'

/** A VPC that is not the default one: nothing is made for it, and what upstream made is not collected. */
export const unserved = 'unserved'

/** Reads what decides about a VPC. */
export function observeVpc(name: string, world: ControlWorld): VpcSnapshot | typeof unserved | undefined {
  const { settings } = world
  if (name !== settings.clusterRouter) return world.vpcs.get(name) === undefined ? undefined : unserved
  const networks = [...world.networks.values()].filter((network) => network.vpc === name)
  return {
    name,
    defaultSubnet: settings.defaultSubnet.name,
    subnets: networks.map((network) => network.name).sort(),
    overlayCidrs: networks.flatMap(familiesOf).map(({ family, cidr }) => ({ family, cidr })),
  }
}
