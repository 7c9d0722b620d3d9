import { pods, type KubeClient, type KubeObject, type Resource } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { untilObjects } from './wait.ts'

interface DaemonSet extends KubeObject {
  readonly status?: { readonly desiredNumberScheduled?: number; readonly numberReady?: number }
}

const daemonSets: Resource<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  namespaced: true,
}

/** Waits until there is no pod of the controller; false when `signal` was aborted before. */
export function untilControllerGone(
  client: KubeClient,
  logger: Logger,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const selection = { client, logger, resource: pods, namespace, labelSelector: 'app=kube-ovn-controller' }
  return untilObjects(selection, signal, (objects) => objects.length === 0)
}

/**
 * Waits until the named DaemonSet, whose pods are ready when they have cleaned their node, is ready everywhere; false
 * when `signal` was aborted before, e.g. because a node is down.
 */
export function untilNodesClean(
  client: KubeClient,
  logger: Logger,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  const fieldSelector = `metadata.name=${name}`
  const selection = { client, logger, resource: daemonSets, namespace, fieldSelector }
  return untilObjects(selection, signal, ([daemonSet]) => {
    const { desiredNumberScheduled = 0, numberReady = 0 } = daemonSet?.status ?? {}
    return desiredNumberScheduled > 0 && numberReady >= desiredNumberScheduled
  })
}
