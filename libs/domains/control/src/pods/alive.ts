import type { Pod } from '@kube-ovn/kube-api/core'

/** Whether a pod's containers may still run, so that it needs its port. A finished pod gives its address back. */
function isAlive(pod: Pod): boolean {
  const { phase, reason } = pod.status ?? {}
  const restartPolicy = pod.spec?.restartPolicy ?? 'Always'
  if (phase === 'Succeeded') return restartPolicy === 'Always'
  if (phase === 'Failed') return restartPolicy !== 'Never' && reason !== 'Evicted'
  return true
}

/**
 * Whether a pod is to have a port: it runs (or is about to) on a known node, in a network of its own.
 *
 * Nothing is allocated before the scheduler has chosen: a pod that fits nowhere holds no address.
 */
export function needsPort(pod: Pod): boolean {
  return pod.spec?.hostNetwork !== true && (pod.spec?.nodeName ?? '') !== '' && isAlive(pod)
}
