import { servicePrefixesOf } from '@kube-ovn/endpoints'
import { serviceCidrs, type ServiceCidr } from '@kube-ovn/kube-api/core'
import { objectTable } from '@kube-ovn/reconcile'
import type { ControlWorld } from '../world.ts'

/** None where Kubernetes is older than these. A feature that reads {@link servicePrefixes} declares watch and table. */
export const serviceCidrWatch = { resource: serviceCidrs, mayBeAbsent: true } as const
export const serviceCidrTable = objectTable<ServiceCidr>(serviceCidrWatch)

/** The prefixes of Services' addresses. */
export function servicePrefixes(world: Pick<ControlWorld, 'table' | 'settings'>): readonly string[] {
  return servicePrefixesOf(world.table(serviceCidrTable).scan(), world.settings.servicePrefixes)
}
