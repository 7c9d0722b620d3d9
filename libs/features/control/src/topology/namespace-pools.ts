import { mostEntries } from '@kube-ovn/ip'
import type { ObjectChange } from '@kube-ovn/kube'
import type { IpPool } from '@kube-ovn/kube-api'
import { storeIndex, type ControlWorld } from '../world.ts'

/**
 * Lists the namespaces whose pods take their addresses from an IPPool; none once it is being deleted, nor while there are
 * more than may be.
 */
export function namespacesOfPool(pool: IpPool | undefined): readonly string[] {
  const { namespaces = [] } = pool?.spec ?? {}
  return pool?.metadata.deletionTimestamp === undefined && namespaces.length <= mostEntries ? namespaces : []
}

/** Whether a change of an IPPool may change which namespaces it serves. */
export function hasOtherNamespaces({ old, new: current }: ObjectChange<IpPool>): boolean {
  return JSON.stringify(namespacesOfPool(old)) !== JSON.stringify(namespacesOfPool(current))
}

/** Gives the names of the IPPools that are bound to a namespace, sorted. */
export function poolsOfNamespace(namespace: string, { ipPools }: ControlWorld): readonly string[] {
  return ipPools
    .find(storeIndex.poolsByNamespace, namespace)
    .map((pool) => pool.metadata.name)
    .sort()
}
