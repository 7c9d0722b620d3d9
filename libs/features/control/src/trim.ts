import { vipAnnotations } from '@kube-ovn/annotations'
import type { Node, Pod } from '@kube-ovn/kube-api/core'

/** Keeps of a pod what decides about its port. */
export function trimPod(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion, annotations, deletionTimestamp } = pod.metadata
  // Only Vips select pods by labels, and only those that name them.
  const labels = vipAnnotations.shared.read(annotations) === undefined ? undefined : pod.metadata.labels
  const { nodeName, hostNetwork, restartPolicy } = pod.spec
  const { phase, reason } = pod.status ?? {}
  return {
    metadata: present({ name, namespace, uid, resourceVersion, labels, annotations, deletionTimestamp }),
    spec: { containers: [], ...present({ nodeName, hostNetwork, restartPolicy }) },
    status: present({ phase, reason }),
  }
}

/** Keeps of a node its addresses and what is written on it. */
export function trimNode({ metadata, status }: Node): Node {
  const { managedFields: _, ...kept } = metadata
  return {
    metadata: kept,
    ...(status?.addresses === undefined ? {} : { status: { addresses: status.addresses } }),
  }
}

/** Leaves out what is undefined, so that the copy has no more keys than the original. */
function present<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
