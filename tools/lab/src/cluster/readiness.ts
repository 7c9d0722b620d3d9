import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'
import { isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import type { LabNode } from './node.ts'

/** A cluster that comes up. */
interface Starting {
  readonly api: ApiClient
  readonly nodes: readonly LabNode[]
}

/** Waits until every node that has a machine is Ready, which takes a pod network. */
export function untilNodesReady(cluster: Starting, timeoutMs = 300_000): Promise<true> {
  return waitForObjects<NodeObject, true>(
    cluster.api,
    '/api/v1/nodes',
    'every node is Ready',
    (nodes) => {
      const ready = new Set(nodes.filter(isReady).map(({ metadata }) => metadata.name))
      return cluster.nodes.every(({ name }) => ready.has(name)) ? true : undefined
    },
    timeoutMs,
  )
}

interface NodeObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly NodeCondition[] }
}

interface NodeCondition {
  readonly type: string
  readonly status: string
  readonly lastHeartbeatTime?: string
}

function isReady(node: NodeObject): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

export async function untilApiAnswers(cluster: Starting): Promise<void> {
  await eventually(
    'the API server is ready',
    () => cluster.api.call<string>('GET', '/readyz').catch(() => undefined),
    { timeoutMs: 240_000, pauseMs: 100 },
  )
}

export async function untilNodesRegistered(cluster: Starting): Promise<void> {
  await waitForObjects(
    cluster.api,
    '/api/v1/nodes',
    'every node has registered',
    (nodes) => (nodes.length === cluster.nodes.length ? true : undefined),
    90_000,
  )
  // kubelet may not give itself a role.
  const masters = cluster.nodes.filter(({ spec }) => spec.isMaster)
  await Promise.all(
    masters.map(({ name }) =>
      cluster.api.mergePatch(`/api/v1/nodes/${name}`, {
        metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } },
      }),
    ),
  )
}

/** The API server refuses pods of a namespace until the controller manager has made its service account. */
export async function untilPodsAdmitted(cluster: Starting): Promise<void> {
  const namespaces = ['default', 'kube-system']
  await Promise.all(
    namespaces.map((namespace) =>
      waitForObjects(
        cluster.api,
        `/api/v1/namespaces/${namespace}/serviceaccounts`,
        `the service account of namespace ${namespace}`,
        (accounts) => (accounts.some(({ metadata }) => metadata.name === 'default') ? true : undefined),
      ),
    ),
  )
}

/**
 * Waits until kubelet of a node has spoken after a moment, the node is Ready, and everything on it that belongs to a DaemonSet was started
 * after it and is Ready.
 *
 * Until kubelet speaks, the API shows what was before.
 */
export async function untilNodeStarted(cluster: Starting, name: string, since: Date): Promise<void> {
  // Times of the API have no fractions.
  const after = (text: string | undefined): boolean =>
    text !== undefined && Date.parse(text) >= Math.floor(since.getTime() / 1000) * 1000
  await waitForObjects<NodeObject, true>(
    cluster.api,
    `/api/v1/nodes?fieldSelector=metadata.name%3D${name}`,
    `${name} is Ready`,
    ([node]) =>
      node?.status?.conditions?.some(
        ({ type, status, lastHeartbeatTime }) =>
          type === 'Ready' && status === 'True' && after(lastHeartbeatTime),
      ) === true
        ? true
        : undefined,
    120_000,
  )
  const isLacking = (pod: StartedPod): boolean =>
    pod.metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') === true &&
    (!isPodReady(pod) ||
      pod.status?.containerStatuses?.every(({ state }) => after(state.running?.startedAt)) !== true)
  await waitForObjects<StartedPod, true>(
    cluster.api,
    `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`,
    `the DaemonSets' pods of ${name} have started`,
    (pods) => (pods.some(isLacking) ? undefined : true),
    180_000,
    isLacking,
  )
}

interface StartedPod extends PodObject {
  readonly metadata: PodObject['metadata'] & {
    readonly ownerReferences?: readonly { readonly kind: string }[]
  }
  readonly status?: PodObject['status'] & {
    readonly containerStatuses?: readonly {
      readonly state: { readonly running?: { readonly startedAt: string } }
    }[]
  }
}
