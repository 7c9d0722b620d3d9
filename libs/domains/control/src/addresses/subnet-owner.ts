import { ownerOf, type Owner, type OwnerKind } from '@kube-ovn/ipam'
import type { Ip } from '@kube-ovn/kube-api'
import { isInterconnectionName, querierPortName } from '@kube-ovn/ovn-names'

/** What a Subnet itself has an address for. */
export type SubnetAddressKind = Extract<OwnerKind, 'querier' | 'router-port'>

/** The namespace that records of such addresses say, as upstream has it. */
export const subnetAddressNamespace = 'default'

const kinds: ReadonlySet<string> = new Set<SubnetAddressKind>(['querier', 'router-port'])

/** Whether an address is a Subnet's own: it goes with the Subnet, and keeps it from nothing. */
export function isSubnetOwner(owner: Owner): boolean {
  return kinds.has(owner.slice(0, owner.indexOf('/')))
}

/** The owner that a record is of, if it is a Subnet's own. A pod's is called otherwise than the pod. */
export function subnetOwnerOf({ metadata: { name }, spec }: Ip): Owner | undefined {
  const { podName, namespace, subnet = '' } = spec ?? {}
  if (podName !== name || namespace !== subnetAddressNamespace) return undefined
  if (name === querierPortName(subnet)) return ownerOf('querier', subnet)
  return isInterconnectionName(name, subnet) ? ownerOf('router-port', subnet) : undefined
}
