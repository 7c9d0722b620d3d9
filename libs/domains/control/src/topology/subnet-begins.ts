import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import type { Trigger } from '@kube-ovn/reconcile'

/**
 * For an aspect of a Subnet, which it reads of tables. It is looked at again when the status says what is in effect, which is when the
 * switch is made, so that its rows come with the switch where both are in one round, and else right after it.
 */
export const subnetBegins: Trigger<string, unknown> = {
  on: 'object',
  resource: subnetResource,
  keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
    old === undefined || current === undefined || inEffect(old) !== inEffect(current) ? [key] : [],
}

function inEffect({ status }: Subnet): string {
  return JSON.stringify(status?.inEffect ?? {})
}
