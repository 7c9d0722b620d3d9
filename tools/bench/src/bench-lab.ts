import { claimLabName, createCluster, installChart, removeLeftovers } from '@kube-ovn/lab'
import type { ApiObject, Cluster, PodObject } from '@kube-ovn/lab'

export const benchNamespace = 'bench'

/** Brings up two nodes with the chart, and an empty namespace. Disposing removes all of it. */
export async function createBenchLab(id: string): Promise<Cluster> {
  await removeLeftovers()
  await claimLabName(id)
  console.log('bringing up a cluster of two nodes')
  const cluster = await createCluster({ id, nodes: 2, stack: 'dual' })
  try {
    console.log('installing the chart')
    await installChart(cluster)
    await createBenchNamespace(cluster)
    return cluster
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
}

export async function createBenchNamespace(cluster: Cluster): Promise<void> {
  await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: benchNamespace } })
}

export interface PodPlan {
  readonly name: string
  /** Binds the pod, as the scheduler would. */
  readonly nodeName?: string
}

/** A pod that does nothing, from an image that every node has. */
export function idlePod({ name, nodeName }: PodPlan): ApiObject & { readonly spec: unknown } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: benchNamespace, labels: { app: 'bench' } },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      // Deleted by kubelet, not by force: the API object goes when the node is done with it.
      terminationGracePeriodSeconds: 1,
      containers: [
        { name: 'idle', image: 'docker.io/library/busybox:stable', command: ['sleep', 'infinity'] },
      ],
    },
  }
}

export const podsPath = `/api/v1/namespaces/${benchNamespace}/pods`

/** Creates pods at once; the API server gets them as fast as it takes them. */
export async function createPods(cluster: Cluster, pods: readonly PodPlan[]): Promise<void> {
  await Promise.all(pods.map((pod) => cluster.api.create(idlePod(pod))))
}

/** Deletes all pods of the namespace and waits until they are gone. */
export async function deletePods(cluster: Cluster): Promise<void> {
  await cluster.api.call('DELETE', podsPath)
  await cluster.api.follow<PodObject, true>(
    podsPath,
    (pods) => (pods.length === 0 ? true : undefined),
    AbortSignal.timeout(300_000),
  )
}
