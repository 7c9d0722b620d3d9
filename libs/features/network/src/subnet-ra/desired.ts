import { routerPortName, subnetRouterPort } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { ref } from '@kube-ovn/domains-control'
import type { Advertising } from '@kube-ovn/domains-control/topology'

/** A subnet with IPv6 on which the router says who it is. */
export interface AdvertisingSnapshot {
  readonly subnet: string
  readonly vpc: string
  readonly prefixLength: number
  readonly advertising: Advertising
}

/**
 * Computes what the router's port says: entries of a port that is the subnet's.
 *
 * @see ovn-nb(5), Logical_Router_Port, ipv6_ra_configs and ipv6_prefix
 */
export function desiredAdvertising({ subnet, vpc, prefixLength, advertising }: AdvertisingSnapshot): Desired {
  const of = ref(subnetRouterPort, routerPortName(vpc, subnet))
  return {
    ...nothing,
    members: [
      { of, column: 'ipv6_prefix', value: String(prefixLength) },
      ...Object.entries(advertising).map(([key, value]) => ({ of, column: 'ipv6_ra_configs', key, value })),
    ],
  }
}
