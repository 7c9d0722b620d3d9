import type { ObjectChange } from '@kube-ovn/kube'
import type { Namespace } from '@kube-ovn/kube-api/core'
import type { Subnet } from '@kube-ovn/kube-api'
import { matchesLabels } from '@kube-ovn/label-selector'

/**
 * Gives the names of the subnets that serve a namespace, sorted; the default subnet when none is bound to it.
 *
 * A subnet is bound by name (`spec.namespaces`) or by label (`spec.namespaceSelectors`).
 */
export function subnetsOfNamespace(
  namespace: Namespace,
  subnets: Iterable<Subnet>,
  defaultSubnet: string,
): readonly string[] {
  const bound = [...subnets]
    .filter((subnet) => subnet.metadata.deletionTimestamp === undefined && binds(subnet, namespace))
    .map((subnet) => subnet.metadata.name)
    .sort()
  return bound.length > 0 ? bound : [defaultSubnet]
}

/** Whether a change of a namespace may change which subnets select it. */
export function hasOtherLabels({ old, new: current }: ObjectChange<Namespace>): boolean {
  const labelText = (namespace: Namespace | undefined): string =>
    JSON.stringify(Object.entries(namespace?.metadata.labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return old === undefined || labelText(old) !== labelText(current)
}

/** Whether a change of a subnet may change which namespaces it serves. */
export function hasOtherBinding({ old, new: current }: ObjectChange<Subnet>): boolean {
  return bindingText(old) !== bindingText(current)
}

function bindingText(subnet: Subnet | undefined): string {
  const { namespaces, namespaceSelectors } = subnet?.spec ?? {}
  const isServing = subnet !== undefined && subnet.metadata.deletionTimestamp === undefined
  return JSON.stringify([isServing, namespaces ?? [], namespaceSelectors ?? []])
}

function binds(subnet: Subnet, namespace: Namespace): boolean {
  const spec = subnet.spec
  if (spec?.namespaces?.includes(namespace.metadata.name) === true) return true
  const labels = namespace.metadata.labels ?? {}
  return spec?.namespaceSelectors?.some((selector) => matchesLabels(selector, labels)) ?? false
}
