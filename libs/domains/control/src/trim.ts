import { appliedAnnotation, deviceAnnotation, nodeTaint, vpcDnsLabel } from '@kube-ovn/annotations'
import { apiVersion as ourApiVersion, instanceOf, isOfKubeOvn, vpcDnsResource } from '@kube-ovn/kube-api'
import type {
  AdminNetworkPolicy,
  NetworkAttachmentDefinition,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '@kube-ovn/kube-api'
import type { KubeObject } from '@kube-ovn/kube'
import { keepApplied } from '@kube-ovn/reconcile'
import type {
  ConfigMap,
  CronJob,
  Node,
  OwnerReference,
  Pod,
  StatefulSet,
  Workload,
} from '@kube-ovn/kube-api/core'
import { forwarderLabelsOf, serviceOfForwarder } from './services/forwarders.ts'
import { misplacedRequests, misplacedRequestsOfJobs } from './pods/misplaced.ts'

/** Keeps of a pod what decides about its port. */
export function trimPod(pod: Pod): Pod {
  const { name, namespace, uid, resourceVersion, annotations } = pod.metadata
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  const runsMachine = instanceOf(pod.metadata.ownerReferences) !== undefined
  const ownerReferences = pod.metadata.ownerReferences?.filter(decidesAboutAddresses)
  const { nodeName, hostNetwork } = pod.spec
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
      ...present({ nodeName, hostNetwork }),
    },
    status: present({ phase: pod.status?.phase, conditions: readinessOf(pod) }),
  }
}

/** Of Pods about which somebody waits. */
function readinessOf(pod: Pod): NonNullable<Pod['status']>['conditions'] {
  if (serviceOfForwarder(pod) === undefined) return undefined
  return pod.status?.conditions
    ?.filter(({ type }) => type === 'Ready')
    .map(({ type, status: is }) => ({ type, status: is }))
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

/** Keeps of a policy of an administrator what it says, and what is said of it. */
export function trimAdminPolicy(policy: AdminNetworkPolicy): AdminNetworkPolicy {
  const trimmed = trimPolicy(policy)
  const conditions = policy.status?.conditions
  return {
    ...trimmed,
    metadata: present({ ...trimmed.metadata, generation: policy.metadata.generation }),
    ...(conditions === undefined ? {} : { status: { conditions } }),
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

/**
 * As {@link trimWorkload}, and of one that we apply what says how it was applied. Of the cluster's own name servers: their image; of what is made
 * for a Service: the labels of its Pods.
 */
export function trimDeployment(deployment: Workload): Workload {
  const { metadata, ...rest } = trimWorkload(deployment)
  const { annotations: misplaced, ...identity } = metadata
  const { annotations, ...made } = madeMetadataOf(deployment)
  const all = { ...misplaced, ...annotations }
  const isEmpty = Object.keys(all).length === 0
  const containers = isClusterDns(deployment)
    ? deployment.spec?.template?.spec?.containers?.map(({ name, image }) => present({ name, image }))
    : undefined
  const labels = forwarderLabelsOf(deployment)
  return {
    ...rest,
    metadata: { ...identity, ...made, ...(isEmpty ? {} : { annotations: all }) },
    ...(containers === undefined ? {} : { spec: { template: { spec: { containers } } } }),
    ...(labels === undefined ? {} : { spec: { template: { metadata: { labels } } } }),
  }
}

/** Key of the Deployment of the cluster's own name servers. */
export const clusterDns = 'kube-system/coredns'

function isClusterDns({ metadata: { namespace, name } }: KubeObject): boolean {
  return `${namespace}/${name}` === clusterDns
}

/** ConfigMap that goes for all VpcDnses. */
export const vpcDnsConfig = 'vpc-dns-config'

/** ConfigMap that says on which nodes Pods in attached networks run. */
export const natConfig = 'ovn-vpc-nat-config'

/** Keeps of a ConfigMap what it says of VpcDnses, or of nodes; of others whether there is a Corefile in it, and how it was applied if it was. */
export function trimConfigMap(configMap: ConfigMap): ConfigMap {
  const { metadata, data } = configMap
  const { name, namespace, uid, resourceVersion } = metadata
  const kept = keptOf(name, data)
  return {
    metadata: { ...present({ name, namespace, uid, resourceVersion }), ...madeMetadataOf(configMap) },
    ...(kept === undefined ? {} : { data: kept }),
  }
}

function keptOf(name: string, data: ConfigMap['data']): ConfigMap['data'] {
  if (name === vpcDnsConfig) return data
  const nodeSelector = name === natConfig ? data?.['nodeSelector'] : undefined
  if (nodeSelector !== undefined) return { nodeSelector }
  return data?.['Corefile'] === undefined ? undefined : { Corefile: '' }
}

/** What says of an object that it was made of a VpcDns, and of whose doing each field is. */
function madeMetadataOf(object: KubeObject): Partial<KubeObject['metadata']> {
  const { labels, annotations, deletionTimestamp, managedFields } = keepApplied(object).metadata
  const label = labels?.[vpcDnsLabel]
  const applied = annotations?.[appliedAnnotation]
  const owners = object.metadata.ownerReferences?.filter(isOfVpcDns) ?? []
  if (label === undefined && applied === undefined && owners.length === 0) return {}
  return present({
    labels: label === undefined ? undefined : { [vpcDnsLabel]: label },
    annotations: applied === undefined ? undefined : { [appliedAnnotation]: applied },
    ownerReferences: owners.length === 0 ? undefined : owners,
    deletionTimestamp,
    managedFields,
  })
}

/** Whether the owner is a VpcDns. */
export function isOfVpcDns({ kind, apiVersion }: OwnerReference): boolean {
  return kind === vpcDnsResource.kind && apiVersion === ourApiVersion
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
 * Keeps of a network whether its NICs are ours, and what they take of a node. Its configuration is of any size, and every pod that asks for the network
 * has it looked at.
 */
export function trimAttachment(attachment: NetworkAttachmentDefinition): NetworkAttachmentDefinition {
  const { name, namespace, uid, resourceVersion, annotations } = attachment.metadata
  const device = annotations?.[deviceAnnotation.key]
  const kept = device === undefined ? undefined : { [deviceAnnotation.key]: device }
  return {
    metadata: present({ name, namespace, uid, resourceVersion, annotations: kept }),
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
          : conditions.map(({ type, status: is, lastTransitionTime }) => ({
              ...{ type, status: is },
              // Since when nobody knows.
              ...(is === 'Unknown' && lastTransitionTime && { lastTransitionTime }),
            })),
    }),
  }
}

/** Leaves out what is undefined, so that the copy has no more keys than the original. */
export function present<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
