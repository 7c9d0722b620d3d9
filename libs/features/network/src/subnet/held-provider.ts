import { SubnetConflictError } from '@kube-ovn/domains-control/topology'
import type { Network } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { nameHolders, ownersIn } from './named-holders.ts'

/**
 * Finds whether an edit gives a subnet to another network while somebody has addresses of it: the NICs that have them
 * are in the network of before, and would lose their ports and records.
 */
export function findHeldProvider(
  network: Network,
  inEffect: Network | undefined,
  { ipam }: Pick<ControlWorld, 'ipam'>,
): SubnetConflictError | undefined {
  const { name, provider } = network
  const before = inEffect?.provider
  if (before === undefined || before === provider) return undefined
  const holders = ownersIn(name, ipam)
  if (holders.length === 0) return undefined
  const named = nameHolders(holders)
  return new SubnetConflictError({
    subnet: name,
    field: 'spec.provider',
    value: provider,
    cure: `put it back to ${before}, or delete ${named} first, which have addresses there`,
    conflictsWith: named,
  })
}
