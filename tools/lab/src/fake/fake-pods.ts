import pMap from 'p-map'
import { waitForObjects } from '../kubernetes/wait.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { fakeNodeKey, fakeNodes } from './fake-node.ts'

/** Requests that the API server is given at once. */
const concurrency = 12

/** A pod and where it is to be, which the scheduler is not asked about. */
export interface PlacedPod {
  readonly namespace: string
  readonly name: string
  readonly nodeName: string
}

/** So many pods, on all fake nodes in turn. */
export function fakePods(namespace: string, count: number, nodeCount: number, first = 0): PlacedPod[] {
  const nodes = fakeNodes(nodeCount)
  return Array.from({ length: count }, (_, index) => ({
    namespace,
    name: `pod-${first + index}`,
    nodeName: nodes[(first + index) % nodeCount]?.name ?? '',
  }))
}

/** Makes a namespace, and waits until pods are admitted to it. */
export async function createPodNamespace(cluster: Cluster, name: string): Promise<void> {
  await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await waitForObjects(
    cluster.api,
    `/api/v1/namespaces/${name}/serviceaccounts`,
    `the service account of namespace ${name}`,
    (accounts) => (accounts.some(({ metadata }) => metadata.name === 'default') ? true : undefined),
  )
}

/** Creates pods as fast as the API server takes them. */
export async function createPlacedPods(cluster: Cluster, pods: readonly PlacedPod[]): Promise<void> {
  await pMap(pods, (pod) => cluster.api.create(podObject(pod)), { concurrency })
}

/** Deletes pods; those that are gone already are fine. */
export async function deletePlacedPods(cluster: Cluster, pods: readonly PlacedPod[]): Promise<void> {
  await pMap(pods, (pod) => cluster.api.delete(podObject(pod)), { concurrency })
}

/** A pod that does nothing, from an image that every node has. */
function podObject({ namespace, name, nodeName }: PlacedPod): ApiObject & { readonly spec: unknown } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: 'placed' } },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      tolerations: [{ key: fakeNodeKey, operator: 'Exists' }],
      containers: [
        { name: 'idle', image: 'docker.io/library/busybox:stable', command: ['sleep', 'infinity'] },
      ],
    },
  }
}
