import type { Pod } from './kinds.ts'

/**
 * Whether a pod's containers may still run, so that it needs its port. A finished pod gives its address back.
 *
 * These phases are the last ones whatever `restartPolicy` says: the kubelet starts nothing of a pod that it would not admit, that was
 * evicted, or that ended with its node.
 */
export function isAlive({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}
