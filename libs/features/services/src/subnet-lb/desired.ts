import { balancerGroup, loadBalancer, logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { memberOf, ref } from '@kube-ovn/domains-control'
import type { Balancer } from '@kube-ovn/domains-control/services'

export interface SubnetBalancersSnapshot {
  readonly subnet: string
  readonly balancers: readonly Pick<Balancer, 'name'>[]
  /** Of those that Services have each for itself; absent where there are none. */
  readonly group: string | undefined
}

/** Attaches load balancers to a switch: what its ports send is balanced where it enters the switch. */
export function desiredSubnetBalancers({ subnet, balancers, group }: SubnetBalancersSnapshot): Desired {
  const of = ref(logicalSwitch, subnet)
  const members = balancers.map(({ name }) => memberOf(of, 'load_balancer', ref(loadBalancer, name)))
  if (group === undefined) return { ...nothing, members }
  const ofAll = memberOf(of, 'load_balancer_group', ref(balancerGroup, group))
  return { ...nothing, members: [...members, ofAll] }
}
