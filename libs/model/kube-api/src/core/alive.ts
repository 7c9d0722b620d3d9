import type { Pod } from './kinds.ts'

/** Whether a pod's containers may still run, so that it needs its port. A finished pod gives its address back. */
export function isAlive(pod: Pod): boolean {
  const { phase, reason } = pod.status ?? {}
  const restartPolicy = pod.spec?.restartPolicy ?? 'Always'
  if (phase === 'Succeeded') return restartPolicy === 'Always'
  if (phase === 'Failed') return restartPolicy !== 'Never' && reason !== 'Evicted'
  return true
}
