import { waitForObjects } from './wait.ts'
import type { ApiClient, ApiObject } from './client.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface PodObject extends ApiObject {
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean }
  readonly status?: {
    readonly phase?: string
    readonly podIPs?: readonly { readonly ip: string }[]
    readonly conditions?: readonly Condition[]
  }
}

/** A Deployment or a DaemonSet, as far as a roll-out shows in it. */
interface WorkloadObject extends ApiObject {
  readonly spec: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly currentNumberScheduled?: number
  }
}

export type WorkloadKind = 'deployments' | 'daemonsets'

/** Says whether a pod is Ready and not on its way out. */
export function isPodReady(pod: PodObject): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  )
}

/** The addresses of a pod, first the one of the cluster's primary family. */
export function addressesOfPod(pod: PodObject): readonly string[] {
  return (pod.status?.podIPs ?? []).map(({ ip }) => ip)
}

/** Waits until exactly `count` pods of a selection exist and are Ready. */
export function untilPodsReady(
  api: ApiClient,
  namespace: string,
  labels: string,
  count: number,
  timeoutMs = 300_000,
): Promise<readonly PodObject[]> {
  return waitForObjects<PodObject, readonly PodObject[]>(
    api,
    `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(labels)}`,
    `${count} pods ${labels} of ${namespace} are Ready`,
    (pods) => (pods.length === count && pods.every(isPodReady) ? pods : undefined),
    timeoutMs,
  )
}

/**
 * Deletes a pod, and waits until its node has taken it down, its links included.
 *
 * The API server forgets a pod at once that is given no time; its node is busy with it for some seconds more.
 */
export async function takeDownPod(api: ApiClient, pod: ApiObject): Promise<void> {
  const { namespace = 'default', name } = pod.metadata
  await api.delete(pod, 1)
  await untilPod(api, namespace, name, 'is gone', (found) => found === undefined, 180_000)
}

/** Waits until a pod fulfils a condition; `undefined` stands for a pod that is gone. */
export function untilPod(
  api: ApiClient,
  namespace: string,
  name: string,
  what: string,
  isMet: (pod: PodObject | undefined) => boolean,
  timeoutMs = 180_000,
): Promise<PodObject | true> {
  return waitForObjects<PodObject, PodObject | true>(
    api,
    `/api/v1/namespaces/${namespace}/pods?fieldSelector=metadata.name%3D${name}`,
    `pod ${namespace}/${name} ${what}`,
    ([pod]) => (isMet(pod) ? (pod ?? true) : undefined),
    timeoutMs,
  )
}

/** Waits until all pods of a workload are of its newest template and available, and none of an older one is left. */
export function untilRolledOut(
  api: ApiClient,
  kind: WorkloadKind,
  namespace: string,
  name: string,
  timeoutMs = 300_000,
): Promise<true> {
  return waitForObjects<WorkloadObject, true>(
    api,
    `/apis/apps/v1/namespaces/${namespace}/${kind}?fieldSelector=metadata.name%3D${name}`,
    `${kind} ${namespace}/${name} has rolled out`,
    ([workload]) => (workload !== undefined && isRolledOut(workload) ? true : undefined),
    timeoutMs,
  )
}

function isRolledOut({ metadata, spec, status }: WorkloadObject): boolean {
  if (status?.observedGeneration !== metadata.generation) return false
  if (status?.desiredNumberScheduled !== undefined)
    return (
      status.desiredNumberScheduled > 0 &&
      status.updatedNumberScheduled === status.desiredNumberScheduled &&
      status.numberAvailable === status.desiredNumberScheduled
    )
  const wanted = spec.replicas ?? 1
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted
  )
}
