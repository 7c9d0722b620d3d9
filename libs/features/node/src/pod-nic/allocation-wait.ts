import { AttachmentError } from '../errors.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import { readAllocation, type Allocation, type Pending } from './allocation.ts'
import type { PodNicDependencies } from './dependencies.ts'
import type { AttachmentRequest } from './snapshot.ts'

/** Where the answer comes from. */
type AllocationSources = Pick<PodNicDependencies, 'pods' | 'subnets' | 'tunnelMtu' | 'clock' | 'reporter'>

/** How long the controller may take: kubelet's own time-out for a request to the runtime is 2 minutes. */
const controllerTimeoutMs = 110_000

/**
 * Waits until the controller has decided everything about a pod's interface; it looks again at every change of the
 * caches, and at no other time.
 *
 * @throws AttachmentError naming what was missing at the end, or saying that the pod is gone
 */
export async function awaitAllocation(
  request: AttachmentRequest,
  { pods, subnets, tunnelMtu, clock, reporter }: AllocationSources,
  signal: AbortSignal,
): Promise<Allocation> {
  let wasSeen = false
  let pending: Pending = { stage: 'get-pod', reason: 'not looked for yet' }
  let sinceMs = clock.monotonic()

  function pend(next: Pending): undefined {
    if (next.stage !== pending.stage) {
      reporter.waited(pending.stage, clock.monotonic() - sinceMs)
      sinceMs = clock.monotonic()
    }
    wasSeen ||= next.stage !== 'get-pod'
    pending = next
  }

  function read(): Allocation | undefined {
    const found = readAllocation(request, { pods: pods.store, subnets: subnets.store }, wasSeen)
    if ('reason' in found) return pend(found)
    if (found.mtu > 0 || tunnelMtu.value !== undefined) return found
    return pend({
      stage: 'mtu',
      reason: "this node's tunnel address is not known yet; the agent's log says why",
    })
  }

  function timeoutError(): AttachmentError {
    return new AttachmentError({ pod: `${request.podNamespace}/${request.podName}`, ...pending })
  }

  try {
    return await withinMs(clock, controllerTimeoutMs, signal, timeoutError, (bounded) =>
      waitUntil(
        read,
        (recheck) => [pods.onChange(recheck), subnets.onChange(recheck), tunnelMtu.onChange(recheck)],
        bounded,
      ),
    )
  } finally {
    reporter.waited(pending.stage, clock.monotonic() - sinceMs)
  }
}
