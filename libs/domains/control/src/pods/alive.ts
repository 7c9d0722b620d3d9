import { isAlive, type Pod } from '@kube-ovn/kube-api/core'

/**
 * Whether a pod is to have a port: it runs (or is about to) on a known node, in a network of its own.
 *
 * Nothing is allocated before the scheduler has chosen: a pod that fits nowhere holds no address.
 */
export function needsPort(pod: Pod): boolean {
  return pod.spec?.hostNetwork !== true && (pod.spec?.nodeName ?? '') !== '' && isAlive(pod)
}
