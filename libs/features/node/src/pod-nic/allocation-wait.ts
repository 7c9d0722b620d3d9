import { AttachmentError } from '../errors.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import {
  podOf,
  readAllocation,
  readDelegatedAllocation,
  type Allocation,
  type AllocationCaches,
  type DelegatedAllocation,
  type Pending,
} from './allocation.ts'
import type { PodNicDependencies } from './dependencies.ts'
import type { AttachmentRequest } from './snapshot.ts'

/** Where the answer comes from. */
type AllocationSources = Pick<
  PodNicDependencies,
  'pods' | 'subnets' | 'nodes' | 'nodeName' | 'tunnelMtu' | 'clock' | 'reporter'
>

/** How long the controller may take: kubelet's own time-out for a request to the runtime is 2 minutes. */
const controllerTimeoutMs = 110_000

/** What everybody waits with. */
type WaitSources = Omit<AllocationSources, 'tunnelMtu' | 'nodes' | 'nodeName'>

type DecisionCaches = Pick<AllocationCaches, 'pods' | 'subnets'>

/**
 * Waits until the controller has decided everything about a pod's interface.
 *
 * @throws AttachmentError naming what was missing at the end, or saying that the pod is gone, or about to go
 */
export function awaitAllocation(
  request: AttachmentRequest,
  sources: AllocationSources,
  signal: AbortSignal,
): Promise<Allocation> {
  const { tunnelMtu, nodes, nodeName } = sources
  function read(caches: DecisionCaches, wasSeen: boolean): Allocation | Pending {
    const labels = nodes.store.get(nodeName)?.metadata.labels ?? {}
    const found = readAllocation(request, { ...caches, labels }, wasSeen)
    if ('reason' in found || found.mtu > 0 || tunnelMtu.value !== undefined) return found
    return { stage: 'mtu', reason: "this node's tunnel address is not known yet; the agent's log says why" }
  }
  return awaitDecision(request, sources, signal, read, (recheck) => [
    tunnelMtu.onChange(recheck),
    nodes.onChange(({ key }) => void (key === nodeName && recheck())),
  ])
}

/**
 * Waits until the controller has given addresses to an interface that another plugin makes.
 *
 * @throws AttachmentError as {@link awaitAllocation}, and when no Subnet has the provider
 */
export function awaitDelegatedAllocation(
  request: AttachmentRequest,
  sources: WaitSources,
  signal: AbortSignal,
): Promise<DelegatedAllocation> {
  return awaitDecision(request, sources, signal, (caches, wasSeen) =>
    readDelegatedAllocation(request, caches, wasSeen),
  )
}

/** Looks again at every change of the caches, and of what else is watched, and at no other time. */
async function awaitDecision<T extends object>(
  request: AttachmentRequest,
  { pods, subnets, clock, reporter }: WaitSources,
  signal: AbortSignal,
  decide: (caches: DecisionCaches, wasSeen: boolean) => T | Pending,
  watchMore: (recheck: () => void) => readonly Disposable[] = () => [],
): Promise<T> {
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

  function read(): T | undefined {
    const found = decide({ pods: pods.store, subnets: subnets.store }, wasSeen)
    if (!isPending(found)) return found
    // The kubelet ends a sandbox no sooner than this one has an answer.
    if (podOf(request, pods.store)?.metadata.deletionTimestamp !== undefined)
      throw attachmentError({ ...found, reason: `the Pod is being deleted; until then: ${found.reason}` })
    return pend(found)
  }

  function attachmentError(cause: Pending): AttachmentError {
    return new AttachmentError({ pod: `${request.podNamespace}/${request.podName}`, ...cause })
  }

  try {
    const late = (): AttachmentError => attachmentError(pending)
    return await withinMs(clock, controllerTimeoutMs, signal, late, (bounded) =>
      waitUntil(
        read,
        (recheck) => [pods.onChange(recheck), subnets.onChange(recheck), ...watchMore(recheck)],
        bounded,
      ),
    )
  } finally {
    reporter.waited(pending.stage, clock.monotonic() - sinceMs)
  }
}

function isPending(found: object): found is Pending {
  return 'reason' in found
}
