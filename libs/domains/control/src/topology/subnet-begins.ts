import type { KubeObject, ObjectChange } from '@kube-ovn/kube'
import { subnetResource, vpcResource } from '@kube-ovn/kube-api'
import type { Subnet, SubnetStatus, Vpc, VpcStatus } from '@kube-ovn/kube-api'
import type { Trigger } from '@kube-ovn/reconcile'

/**
 * For an aspect of a Subnet, which it reads of tables. It is looked at again when the status says where the Subnet is plugged in, which is when
 * the switch and its ports are made, so that its rows come with these where both are in one round, and else right after them. All else that
 * is in effect wakes who goes by it.
 */
export const subnetBegins: Trigger<string, unknown> = {
  on: 'object',
  resource: subnetResource,
  keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
    old === undefined || current === undefined || placeOf(old) !== placeOf(current) ? [key] : [],
}

function placeOf({ status }: Subnet): string | undefined {
  if (status?.inEffect === undefined) return undefined
  const { provider, vpc, vlan, logicalGateway, u2oInterconnection } = status.inEffect
  return JSON.stringify([provider, vpc, vlan, logicalGateway, u2oInterconnection])
}

/** For who keeps a part of a Subnet's status: it looks again when somebody else has changed that. */
export function subnetSays(part: (status: SubnetStatus) => unknown): Trigger<string, unknown> {
  return {
    on: 'object',
    resource: subnetResource,
    keys: (change: ObjectChange<Subnet>) => saysElse(change, part),
  }
}

/** The same for a Vpc. */
export function vpcSays(part: (status: VpcStatus) => unknown): Trigger<string, unknown> {
  return { on: 'object', resource: vpcResource, keys: (change: ObjectChange<Vpc>) => saysElse(change, part) }
}

function saysElse<S extends object>(
  { key, old, new: current }: ObjectChange<KubeObject & { readonly status?: S }>,
  part: (status: S | Record<string, never>) => unknown,
): readonly string[] {
  const textOf = (object: typeof old): string => JSON.stringify(part(object?.status ?? {}) ?? null)
  return current !== undefined && textOf(old) !== textOf(current) ? [key] : []
}
