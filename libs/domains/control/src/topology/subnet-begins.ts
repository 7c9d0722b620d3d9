import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet, type SubnetStatus } from '@kube-ovn/kube-api'
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

/** For who keeps a part of a Subnet's status: it looks again when somebody else has changed that. */
export function subnetSays(part: (status: SubnetStatus) => unknown): Trigger<string, unknown> {
  const textOf = (subnet: Subnet | undefined): string => JSON.stringify(part(subnet?.status ?? {}) ?? null)
  return {
    on: 'object',
    resource: subnetResource,
    keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
      current !== undefined && textOf(old) !== textOf(current) ? [key] : [],
  }
}
