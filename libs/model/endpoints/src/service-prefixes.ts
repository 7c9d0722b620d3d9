import type { ServiceCidr } from '@kube-ovn/kube-api/core'

/**
 * Lists the prefixes that addresses of Services are in, sorted, each once.
 *
 * A ServiceCIDR that is deleted stays, and is not ready any more, as long as a Service has an address in it: no new Service gets one, but those
 * that are there are served. Kubernetes takes it away with the last of them.
 *
 * @param fallback what is in effect where no object says anything, as before Kubernetes 1.33
 * @see https://kubernetes.io/docs/reference/networking/service-ips/
 */
export function servicePrefixesOf(
  objects: readonly ServiceCidr[],
  fallback: readonly string[],
): readonly string[] {
  const said = objects.filter(isInEffect).flatMap(({ spec }) => spec?.cidrs ?? [])
  return [...new Set(said.length > 0 ? said : fallback)].sort()
}

function isInEffect({ metadata, status }: ServiceCidr): boolean {
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
  return isReady === true || metadata.deletionTimestamp !== undefined
}
