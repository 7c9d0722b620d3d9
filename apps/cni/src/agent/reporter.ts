import {
  attachmentId,
  AttachmentError,
  ProbeTargetTakenError,
  QosInvalidError,
  nicChoiceOf,
  type AttachmentReporter,
  type AttachmentRequest,
  type ConnectionStatus,
} from '@kube-ovn/features-node'
import { providerNetworkKeysOf } from '@kube-ovn/annotations'
import {
  providerNetworkReason,
  providerNetworkResource,
  subnetReason,
  subnetResource,
  type ProviderNetwork,
  type Subnet,
} from '@kube-ovn/kube-api'
import { KubeOvnError, problemText } from '@kube-ovn/errors'
import { NextHopUnreachableError } from '@kube-ovn/fragments'
import { nodes, pods, type EventRecorder, type Informer, type Node, type Pod } from '@kube-ovn/kube'
import type { AgentMetrics } from '@kube-ovn/telemetry'

/** Makes events on Pods, in upstream's words, and metrics of what becomes of attachments. */
export function createReporter(
  recorder: Pick<EventRecorder, 'record'>,
  store: Informer<Pod>['store'],
  metrics: AgentMetrics,
  nodeName: string,
): AttachmentReporter {
  function record(
    request: AttachmentRequest,
    uid: string | undefined,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
  ): void {
    const { podNamespace: namespace, podName: name } = request
    const known = uid ?? store.get(`${namespace}/${name}`)?.metadata.uid ?? request.podUid
    // An event without uid belongs to no Pod, and nobody would see it.
    if (known === '') return
    recorder.record({ regarding: { resource: pods, namespace, name, uid: known }, type, reason, message })
  }

  return {
    added(request, { allocation, wanted, timings }) {
      metrics.added(timings)
      const ip = wanted.externalIds[attachmentId.ip] ?? ''
      const left = allocation.otherRoutes.map(({ dst, gw }) => `${dst} via ${gw}`).join(', ')
      const note = left === '' ? '' : ` routes without an address of their family, left out: ${left}`
      const message = `subnet=${allocation.subnet} ip=${ip} mac=${wanted.mac} ${where(request)}${note}`
      record(request, allocation.uid, 'Normal', 'PodNetworkConfigured', message)
    },
    addFailed(request, podUid, stage, error) {
      const message = `stage=${stage} error=${describe(error)} ${where(request)}`
      record(request, podUid === '' ? undefined : podUid, 'Warning', 'PodNetworkConfigureFailed', message)
    },
    removed(request) {
      record(request, undefined, 'Normal', 'PodNetworkRemoved', where(request))
    },
    removeFailed(request, error) {
      const message = `stage=delete-nic error=${describe(error)} ${where(request)}`
      record(request, undefined, 'Warning', 'PodNetworkRemoveFailed', message)
    },
    waited(stage, ms) {
      if (stage === 'wait-route') metrics.waitedForRoute(ms)
      else metrics.waitedForAddress(ms)
    },
    announceFailed: () => metrics.announceFailed(),
  }

  function where(request: AttachmentRequest): string {
    return `provider=${request.provider} interface=${request.ifName} node=${nodeName}`
  }
}

/**
 * Makes events of what features want of the node and can not have: on its own object, or on the Pod or Subnet that asks for it, with
 * upstream's reason where it has one.
 */
export function createRefusalReporter(
  recorder: Pick<EventRecorder, 'record'>,
  { nodes: nodeStore, pods: podStore, subnets: subnetStore }: RegardedStores,
  name: string,
): (feature: string, problem: Error) => void {
  return (feature, problem) => {
    const text = isKnown(problem) ? problemText(problem) : problem.message
    const key = podOf(problem)
    if (key !== undefined) {
      const pod = podStore.get(key)?.metadata
      if (pod?.uid === undefined) return
      const { name: podName, namespace = '', uid } = pod
      recorder.record({
        regarding: { resource: pods, namespace, name: podName, uid },
        type: 'Warning',
        reason: problem instanceof QosInvalidError ? 'PodQoSUpdateFailed' : 'PodProbeUnreachable',
        message: `${text} node=${name}`,
      })
      return
    }
    if (problem instanceof NextHopUnreachableError) {
      const subnet = subnetStore.get(problem.details.subnet)?.metadata
      if (subnet?.uid === undefined) return
      recorder.record({
        regarding: { resource: subnetResource, name: subnet.name, uid: subnet.uid },
        type: 'Warning',
        reason: subnetReason.nextHopUnreachable,
        message: `${text} node=${name}`,
      })
      return
    }
    const uid = nodeStore.get(name)?.metadata.uid
    // The Node is not there yet; the log has it.
    if (uid === undefined) return
    recorder.record({
      regarding: { resource: nodes, name, uid },
      type: 'Warning',
      reason: 'NodeNetworkConfigureFailed',
      message: `${feature}: ${text}`,
    })
  }
}

/** Makes events on ProviderNetworks, in upstream's words, of what becomes of this node's connection: of news alone, not after a restart. */
export function createConnectionReporter(
  recorder: Pick<EventRecorder, 'record'>,
  informers: {
    readonly nodes: Pick<Informer<Node>, 'store'>
    readonly networks: Pick<Informer<ProviderNetwork>, 'store'>
  },
  nodeName: string,
): (network: string, status: ConnectionStatus | undefined) => void {
  return (name, status) => {
    const network = informers.networks.store.get(name)
    const uid = network?.metadata.uid
    if (network === undefined || uid === undefined) return
    const { labels, annotations } = informers.nodes.store.get(nodeName)?.metadata ?? {}
    const { source: wanted } = nicChoiceOf(network, { name: nodeName, annotations })
    const keys = providerNetworkKeysOf(name)
    const regarding = { resource: providerNetworkResource, name, uid }
    const problem = status?.kind === 'ready' || status?.kind === 'failed' ? status.problem : undefined
    if (problem !== undefined && annotations?.[keys.problem] !== problem) {
      const message = `node=${nodeName} interface=${wanted} error=${problem}`
      recorder.record({ regarding, type: 'Warning', reason: providerNetworkReason.bridgeFailed, message })
    }
    if (status?.kind === 'ready') {
      const { source, mtu } = status
      const isTold =
        labels?.[keys.ready] === 'true' &&
        labels[keys.interface] === source &&
        labels[keys.mtu] === String(mtu)
      if (isTold) return
      const message = `node=${nodeName} interface=${source} mtu=${mtu}`
      recorder.record({ regarding, type: 'Normal', reason: providerNetworkReason.bridgeReady, message })
    }
  }
}

interface RegardedStores {
  readonly nodes: Informer<Node>['store']
  readonly pods: Informer<Pod>['store']
  readonly subnets: Informer<Subnet>['store']
}

/** The Pod that a problem is with. */
function podOf(problem: Error): string | undefined {
  if (problem instanceof ProbeTargetTakenError) return problem.details.pod
  return problem instanceof QosInvalidError && problem.details.pod !== '' ? problem.details.pod : undefined
}

function isKnown(problem: Error): problem is KubeOvnError {
  return problem instanceof KubeOvnError
}

function describe(error: unknown): string {
  if (error instanceof AttachmentError) return error.details.reason
  return error instanceof Error ? error.message : String(error)
}
