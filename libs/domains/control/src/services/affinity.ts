import type { Service } from '@kube-ovn/kube-api/core'

/** Of Services that say nothing else, and of every Service upstream. Seconds. */
export const usualAffinitySeconds = 10_800

/** More OVN does not remember a client (ovn-nb(5), Load_Balancer, affinity_timeout); Kubernetes allows a day. */
export const mostAffinitySeconds = 65_535

/** How long after its last packet a client still comes to the same backend, seconds, as its user wrote it; `undefined` without affinity. */
export function writtenAffinity({ spec }: Service): number | undefined {
  if (spec?.sessionAffinity !== 'ClientIP') return undefined
  return spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? usualAffinitySeconds
}

/** As {@link writtenAffinity}, as far as OVN can have it. */
export function affinityOf(service: Service): number | undefined {
  const written = writtenAffinity(service)
  return written === undefined ? undefined : Math.min(written, mostAffinitySeconds)
}
