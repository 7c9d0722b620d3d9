import { loadBalancer, logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { memberOf, ref } from '@kube-ovn/domains-control'
import type { Balancer } from '@kube-ovn/domains-control/services'

export interface SubnetBalancersSnapshot {
  readonly subnet: string
  readonly balancers: readonly Pick<Balancer, 'name'>[]
}

/** Attaches load balancers to a switch: what its ports send is balanced where it enters the switch. */
export function desiredSubnetBalancers({ subnet, balancers }: SubnetBalancersSnapshot): Desired {
  return {
    ...nothing,
    members: balancers.map(({ name }) =>
      memberOf(ref(logicalSwitch, subnet), 'load_balancer', ref(loadBalancer, name)),
    ),
  }
}
