import { formatIp } from '@kube-ovn/ip'
import { SubnetConflictError } from '@kube-ovn/domains-control/topology'
import type { Network } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'

/**
 * Finds whether an edit makes an address the gateway that somebody has: the router would answer for it.
 *
 * A gateway that is in effect stays so, whoever shares its address.
 */
export function findHeldGateway(
  network: Network,
  inEffect: Network | undefined,
  { ipam }: Pick<ControlWorld, 'ipam'>,
): SubnetConflictError | undefined {
  const { name, gateways } = network
  const before = inEffect?.gateways
  for (const family of ['v4', 'v6'] as const) {
    const gateway = gateways[family]
    if (gateway === undefined || gateway === before?.[family]) continue
    const holders = ipam.holders(name, gateway).join(' and ')
    if (holders === '') continue
    return new SubnetConflictError({
      subnet: name,
      field: 'spec.gateway',
      value: formatIp(gateway),
      cure: `choose an address that nobody has, or delete ${holders} first, which has this one`,
      conflictsWith: holders,
    })
  }
  return undefined
}
