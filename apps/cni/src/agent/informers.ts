import {
  dropManagedFields,
  endpointSlices,
  Informer,
  KubeNotFoundError,
  nodes,
  pods,
  serviceCidrs,
  services,
  type EndpointSlice,
  type KubeClient,
  type Node,
  type Pod,
  type Service,
  type ServiceCidr,
} from '@kube-ovn/kube'
import { ovnEipLabel } from '@kube-ovn/annotations'
import {
  ovnEipResource,
  ovnEipType,
  providerNetworkResource,
  subnetResource,
  vlanResource,
  type OvnEip,
  type ProviderNetwork,
  type Subnet,
  type Vlan,
} from '@kube-ovn/kube-api'
import { handlersOf, sliceIndexes } from '@kube-ovn/features-node'
import { isAlive, type Container, type KubeObject } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { backoffDelayMs, sleep, type Backoff } from '@kube-ovn/time'

const retry: Backoff = { initialMs: 500, maxMs: 15_000, factor: 2, jitter: 0.5 }

export interface Informers {
  /** Of this node only. */
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  readonly subnets: Informer<Subnet>
  readonly networks: Informer<ProviderNetwork>
  readonly vlans: Informer<Vlan>
  /** Those of routers and nodes. */
  readonly ovnEips: Informer<OvnEip>
}

/** Watches what the agent decides by. */
export function createInformers(
  client: KubeClient,
  { nodeName, keepsProbes }: { readonly nodeName: string; readonly keepsProbes: boolean },
  logger: Logger,
): Informers {
  const common = { client, clock: systemClock, logger }
  return {
    pods: new Informer({
      ...common,
      resource: pods,
      fieldSelector: `spec.nodeName=${nodeName}`,
      trim: (pod) => trimPod(pod, { keepsProbes }),
    }),
    nodes: new Informer({ ...common, resource: nodes, trim: (node) => trimNode(node, nodeName) }),
    subnets: new Informer({ ...common, resource: subnetResource, trim: trimSubnet }),
    networks: new Informer({ ...common, resource: providerNetworkResource, trim: trimStatus }),
    vlans: new Informer({ ...common, resource: vlanResource, trim: trimVlan }),
    ovnEips: new Informer({
      ...common,
      resource: ovnEipResource,
      // There may be thousands for NAT, which are no concern of nodes.
      labelSelector: `${ovnEipLabel.type} in (${ovnEipType.nodePort},${ovnEipType.routerPort})`,
      trim: trimOvnEip,
    }),
  }
}

/** Watches what is served in the place of kube-proxy. */
export function createServiceInformers(
  client: KubeClient,
  logger: Logger,
): { readonly services: Informer<Service>; readonly slices: Informer<EndpointSlice> } {
  const common = { client, clock: systemClock, logger }
  return {
    services: new Informer({ ...common, resource: services, trim: dropManagedFields }),
    slices: new Informer({
      ...common,
      resource: endpointSlices,
      indexes: sliceIndexes,
      trim: dropManagedFields,
    }),
  }
}

/**
 * Watches the prefixes of Services; `undefined` where the API server has no such objects (before Kubernetes 1.33).
 *
 * Waits for as long as the API server does not answer.
 */
export async function watchServiceCidrs(
  client: KubeClient,
  logger: Logger,
  signal: AbortSignal,
): Promise<Informer<ServiceCidr> | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await client.list(serviceCidrs, { limit: 1, signal })
      break
    } catch (error) {
      if (error instanceof KubeNotFoundError) return undefined
      if (signal.aborted) throw error
      logger.warn('API server was not asked for service prefixes yet', { attempt, err: error })
      await sleep(systemClock, backoffDelayMs(retry, attempt, Math.random), signal)
    }
  }
  const informer = new Informer({
    client,
    clock: systemClock,
    logger,
    resource: serviceCidrs,
    trim: dropManagedFields,
  })
  informer.start(signal)
  await informer.synced
  return informer
}

/** What is left of a pod that has given its address back, whatever it came to. */
const ended = { spec: { containers: [] }, status: { phase: 'Succeeded' } } as const

/** Keeps of a pod what says how to attach it, whether it is about to go or has ended, and, where asked for, what the kubelet probes of it. */
export function trimPod(pod: Pod, { keepsProbes = false } = {}): Pod {
  const { name, namespace = '', uid = '', resourceVersion = '', annotations = {} } = pod.metadata
  const { deletionTimestamp } = pod.metadata
  const ending = deletionTimestamp === undefined ? {} : { deletionTimestamp }
  const identity = { name, namespace, uid, resourceVersion, annotations, ...ending }
  if (!isAlive(pod)) return { metadata: identity, ...ended }
  const { creationTimestamp = '' } = pod.metadata
  const probed = keepsProbes ? probedContainers(pod) : []
  if (probed.length === 0) return { metadata: identity, spec: { containers: [] } }
  return { metadata: { ...identity, creationTimestamp }, spec: { containers: probed } }
}

function probedContainers({ spec: { containers, initContainers = [] } }: Pod): readonly Container[] {
  return [...containers, ...initContainers]
    .filter((container) => handlersOf(container).length > 0)
    .map(({ name, ports = [], livenessProbe, readinessProbe, startupProbe, lifecycle }) => ({
      ...{ name, ports: ports.filter((port) => port.name !== undefined) },
      ...(livenessProbe && { livenessProbe }),
      ...(readinessProbe && { readinessProbe }),
      ...(startupProbe && { startupProbe }),
      ...(lifecycle && { lifecycle }),
    }))
}

/** Keeps of the own node what the controller and users write on it, of the others their addresses. */
function trimNode(node: Node, nodeName: string): Node {
  const { name, uid = '', resourceVersion = '', annotations = {}, labels = {} } = node.metadata
  const addresses = node.status?.addresses ?? []
  if (name !== nodeName) return { metadata: { name, uid, resourceVersion }, status: { addresses } }
  const conditions = (node.status?.conditions ?? []).filter(({ type }) => type === 'NetworkUnavailable')
  return { metadata: { name, uid, resourceVersion, annotations, labels }, status: { addresses, conditions } }
}

/** What the controller tells of an object concerns no node. */
function trimStatus<T extends KubeObject & { readonly status?: unknown }>(object: T): T {
  const { status: _status, ...rest } = dropManagedFields(object)
  return rest as T
}

/** Keeps of a Vlan whether it is in effect as it is written. */
export function trimVlan(vlan: Vlan): Vlan {
  const { status, ...rest } = dropManagedFields(vlan)
  if (status === undefined) return rest
  const { subnets: _subnets, ...kept } = status
  return { ...rest, status: kept }
}

/** Keeps of an OvnEip what it has and where, and whether it is about to go. */
function trimOvnEip({ metadata, status = {} }: OvnEip): OvnEip {
  const { name, uid = '', resourceVersion = '', labels = {}, deletionTimestamp } = metadata
  const { type, v4Ip, v6Ip, macAddress } = status
  return {
    metadata: {
      ...{ name, uid, resourceVersion, labels },
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    status: {
      ...(type === undefined ? {} : { type }),
      ...(v4Ip === undefined ? {} : { v4Ip }),
      ...(v6Ip === undefined ? {} : { v6Ip }),
      ...(macAddress === undefined ? {} : { macAddress }),
    },
  }
}

/** Keeps of a subnet what nodes go by. Counters in the status change with every pod; they do not concern a node. */
export function trimSubnet(subnet: Subnet): Subnet {
  const { metadata, spec, status } = dropManagedFields(subnet)
  if (status === undefined) return { metadata, ...(spec === undefined ? {} : { spec }) }
  const { conditions, inEffect, natOutgoingPolicyRules, egress } = status
  const { externalAddresses, u2oInterconnectionIP, u2oInterconnectionMAC } = status
  return {
    metadata,
    ...(spec === undefined ? {} : { spec }),
    status: {
      ...(conditions === undefined ? {} : { conditions }),
      ...(inEffect === undefined ? {} : { inEffect }),
      ...(natOutgoingPolicyRules === undefined ? {} : { natOutgoingPolicyRules }),
      ...(egress === undefined ? {} : { egress }),
      ...(externalAddresses === undefined ? {} : { externalAddresses }),
      ...(u2oInterconnectionIP === undefined ? {} : { u2oInterconnectionIP }),
      ...(u2oInterconnectionMAC === undefined ? {} : { u2oInterconnectionMAC }),
    },
  }
}
