import { SubnetConflictError } from '@kube-ovn/domains-control/topology'
import type { Network } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { nameHolders, ownersIn } from './named-holders.ts'

/** Finds whether an edit gives a subnet to another VPC while somebody has addresses of it, who would be cut off from all others. */
export function findHeldVpc(
  network: Network,
  inEffect: Network | undefined,
  { ipam }: Pick<ControlWorld, 'ipam'>,
): SubnetConflictError | undefined {
  const before = inEffect?.vpc
  if (before === undefined || before === network.vpc) return undefined
  const holders = ownersIn(network.name, ipam)
  if (holders.length === 0) return undefined
  const named = nameHolders(holders)
  return new SubnetConflictError({
    subnet: network.name,
    field: 'spec.vpc',
    value: network.vpc,
    cure: `put it back to ${before}, or delete ${named} first, which have addresses there`,
    conflictsWith: named,
  })
}
