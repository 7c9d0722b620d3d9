import { flagsOf, type ControlWorld } from '@kube-ovn/domains-control'
import { stopsOpenConnections } from '@kube-ovn/domains-control/policies'
import { familiesOf, isReachedByNodes, unusable } from '@kube-ovn/domains-control/topology'
import type { SubnetIsolation } from '@kube-ovn/policy'
import { subnetAclFlags } from './flags.ts'

/** Reads what a subnet lets through; `unusable` while it can not be used, which leaves what it had before. */
export function observeAcls(
  subnet: string,
  world: ControlWorld,
): SubnetIsolation | typeof unusable | undefined {
  const isolation = world.isolations.get(subnet)
  if (isolation === undefined || isolation === unusable) return isolation
  const attachment = world.attachments.get(subnet)
  const prefixes = world.prefixes.get(subnet)
  const nodes = world.prefixes.get(world.settings.nodeSwitch.name)
  if (attachment === undefined || prefixes === undefined || nodes === undefined) return unusable
  if (!attachment.hasSwitch) return undefined
  const { privateSubnetLogRate } = flagsOf(subnetAclFlags, world.settings)
  const { isPrivate, allowsInside, rules, allowSubnets } = isolation
  return {
    ...{ subnet, isPrivate, allowsInside, rules },
    // On overlays of other VPCs the addresses of nodes may be those of pods.
    isReachedByNodes: isReachedByNodes(attachment),
    stopsOpenConnections: stopsOpenConnections(world),
    logRate: privateSubnetLogRate === 0 ? undefined : privateSubnetLogRate,
    families: familiesOf(prefixes).map(({ family, cidr }) => ({
      ...{ family, cidr },
      nodes: familiesOf(nodes).find((other) => other.family === family)?.cidr,
      allowed: allowSubnets.filter((allowed) => allowed.family === family),
    })),
  }
}
