import type { Cidr } from '@kube-ovn/ip'
import { stopsOpenConnections } from '@kube-ovn/domains-control/policies'
import { familiesOf, unusable } from '@kube-ovn/domains-control/topology'
import type { Isolation } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'

/** A subnet that does not let everything through. */
export interface AclSnapshot extends Isolation {
  readonly subnet: string
  /** Whether nodes send to it; in the default VPC alone, elsewhere their addresses may be those of pods. */
  readonly isReachedByNodes: boolean
  readonly stopsOpenConnections: boolean
  readonly families: readonly FamilyPrefixes[]
}

/** The share of one family. */
export interface FamilyPrefixes {
  readonly family: 4 | 6
  readonly cidr: string
  /** Of the nodes, if they have this family. */
  readonly nodes: string | undefined
  readonly allowed: readonly Cidr[]
}

/** Reads what a subnet lets through; `unusable` while it can not be used, which leaves what it had before. */
export function observeAcls(subnet: string, world: ControlWorld): AclSnapshot | typeof unusable | undefined {
  const isolation = world.isolations.get(subnet)
  if (isolation === undefined || isolation === unusable) return isolation
  const network = world.networks.get(subnet)
  const nodes = world.networks.get(world.settings.nodeSwitch.name)
  if (network === undefined || nodes === undefined) return unusable
  if (!network.hasSwitch) return undefined
  const families = familiesOf(network).map(({ family, cidr }) => ({
    ...{ family, cidr },
    nodes: familiesOf(nodes).find((other) => other.family === family)?.cidr,
    allowed: isolation.allowSubnets.filter((allowed) => allowed.family === family),
  }))
  return {
    ...isolation,
    ...{ subnet, isReachedByNodes: network.isDefaultVpc, families },
    stopsOpenConnections: stopsOpenConnections(world),
  }
}
