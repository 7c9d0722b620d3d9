import { nodeTaint } from '@kube-ovn/annotations'
import { instanceOf, isOfKubeOvn } from '@kube-ovn/kube-api'
import type {
  NetworkAttachmentDefinition,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '@kube-ovn/kube-api'
import type { KubeObject } from '@kube-ovn/kube'
import type { CronJob, Node, OwnerReference, Pod, StatefulSet, Workload } from '@kube-ovn/kube-api/core'
import { misplacedRequests, misplacedRequestsOfJobs } from './pods/misplaced.ts'

/** Keeps of a pod what decides about its port. */
export function trimPod(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion, annotations } = pod.metadata
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  const runsMachine = instanceOf(pod.metadata.ownerReferences) !== undefined
  const ownerReferences = pod.metadata.ownerReferences?.filter(decidesAboutAddresses)
  const { nodeName, hostNetwork, restartPolicy } = pod.spec
  const { phase, reason } = pod.status ?? {}
  return {
    metadata: present({
      name,
      namespace,
      uid,
      resourceVersion,
      labels: pod.metadata.labels,
      annotations,
      creationTimestamp: runsMachine ? pod.metadata.creationTimestamp : undefined,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      ownerReferences: ownerReferences?.length === 0 ? undefined : ownerReferences,
    }),
    spec: {
      ...namedPortsOf(pod.spec),
      ...present({ nodeName, hostNetwork, restartPolicy }),
    },
    status: present({ phase, reason }),
  }
}

/** Containers, as far as they name ports: policies are about these. */
function namedPortsOf({
  containers = [],
  initContainers = [],
}: Partial<Pod['spec']>): Pick<Pod['spec'], 'containers'> {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
  return {
    containers: [...containers, ...sidecars].flatMap(({ name, ports = [] }) => {
      const named = ports.filter((port) => port.name !== undefined)
      return named.length === 0 ? [] : [{ name, ports: named }]
    }),
  }
}

/** Keeps of a policy of any kind what it says. */
export function trimPolicy<S extends object>({
  metadata,
  spec,
}: KubeObject & { readonly spec?: S }): KubeObject & { readonly spec?: S } {
  const { name, namespace, uid, resourceVersion, annotations, creationTimestamp } = metadata
  return {
    metadata: present({ name, namespace, uid, resourceVersion, annotations, creationTimestamp }),
    ...(spec === undefined ? {} : { spec }),
  }
}

/** Pods of most owners are as good as pods of none. */
function decidesAboutAddresses(owner: OwnerReference): boolean {
  return owner.kind === 'StatefulSet' || instanceOf([owner]) !== undefined
}

/** Keeps of a workload what it asks for in the wrong place. */
export function trimWorkload(workload: Workload): Workload {
  return identityOf(workload, misplacedRequests(workload))
}

/** As {@link trimWorkload}. */
export function trimCronJob(cronJob: CronJob): CronJob {
  return identityOf(cronJob, misplacedRequestsOfJobs(cronJob))
}

function identityOf({ metadata }: KubeObject, annotations: Readonly<Record<string, string>>): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata
  const isEmpty = Object.keys(annotations).length === 0
  return {
    metadata: present({
      name,
      namespace,
      uid,
      resourceVersion,
      annotations: isEmpty ? undefined : annotations,
    }),
  }
}

/** Keeps of a StatefulSet which members it makes, and where these are to have their addresses. */
export function trimStatefulSet(set: StatefulSet): StatefulSet {
  const { deletionTimestamp } = set.metadata
  const { replicas, ordinals, template } = set.spec ?? {}
  const annotations = template?.metadata?.annotations
  return {
    metadata: { ...trimWorkload(set).metadata, ...present({ deletionTimestamp }) },
    spec: present({
      replicas,
      ordinals,
      template: annotations === undefined ? undefined : { metadata: { annotations } },
    }),
  }
}

/** Keeps of a machine where it is to have its addresses. */
export function trimMachine({ metadata, spec }: VirtualMachine): VirtualMachine {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata
  const annotations = spec?.template?.metadata?.annotations
  const networks = spec?.template?.spec?.networks
  return {
    metadata: present({ name, namespace, uid, resourceVersion, deletionTimestamp }),
    spec: {
      template: present({
        metadata: annotations === undefined ? undefined : { annotations },
        spec: networks === undefined ? undefined : { networks },
      }),
    },
  }
}

/**
 * Keeps of a network whether its NICs are ours. Its configuration is of any size, and every pod that asks for the network
 * has it looked at.
 */
export function trimAttachment(attachment: NetworkAttachmentDefinition): NetworkAttachmentDefinition {
  const { name, namespace, uid, resourceVersion } = attachment.metadata
  return {
    metadata: present({ name, namespace, uid, resourceVersion }),
    spec: isOfKubeOvn(attachment) ? { config: JSON.stringify({ type: 'kube-ovn' }) } : {},
  }
}

/** Keeps of a running machine whether it still does. */
export function trimInstance({ metadata, status }: VirtualMachineInstance): VirtualMachineInstance {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata
  return {
    metadata: present({ name, namespace, uid, resourceVersion, deletionTimestamp }),
    status: present({ phase: status?.phase }),
  }
}

/** Keeps of a machine's move who moves, and how far it is. */
export function trimMigration({
  metadata,
  spec,
  status,
}: VirtualMachineInstanceMigration): VirtualMachineInstanceMigration {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  return {
    metadata: present({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: present({ vmiName: spec?.vmiName }),
    status: present({ phase: status?.phase }),
  }
}

/** Conditions of a Node that decide anything. */
const nodeConditions = ['Ready', 'NetworkUnavailable']

/** Keeps of a node its addresses, whether it is lost, and what is written on it. */
export function trimNode({ metadata, spec, status }: Node): Node {
  const { managedFields: _, ...kept } = metadata
  const taints = spec?.taints?.filter(({ key }) => key === nodeTaint.outOfService) ?? []
  const conditions = status?.conditions?.filter(({ type }) => nodeConditions.includes(type))
  return {
    metadata: kept,
    ...(taints.length === 0 ? {} : { spec: { taints } }),
    status: present({
      addresses: status?.addresses,
      conditions:
        conditions === undefined || conditions.length === 0
          ? undefined
          : conditions.map(({ type, status: is }) => ({ type, status: is })),
    }),
  }
}

/** Leaves out what is undefined, so that the copy has no more keys than the original. */
export function present<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
