import { listText } from '@kube-ovn/errors'
import {
  conditionType,
  providerNetworkInUse,
  providerNetworkReason,
  providerNetworkResource,
  setCondition,
  withObservedGeneration,
  type Condition,
  type ConditionChange,
  type NodeCondition,
  type ProviderNetwork,
} from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch } from '@kube-ovn/reconcile'
import {
  complaintEvents,
  withComplaints,
  withOurFinalizer,
  withoutOurFinalizer,
  type Complaint,
  type Observed,
} from '@kube-ovn/domains-control'

/** A node that takes part. */
export interface NodeState {
  readonly name: string
  readonly isReady: boolean
  /** Why it is not, as the node tells. */
  readonly problem: string | undefined
}

export interface ProviderNetworkSnapshot {
  readonly name: string
  readonly object: ProviderNetwork
  /** In alphabetical order. */
  readonly nodes: readonly NodeState[]
  /** Names of the Vlans on it. */
  readonly vlans: readonly string[]
  /** Names of the subnets with a port on it, also by a Vlan that is gone. */
  readonly subnets: readonly string[]
  /** Which generation its status is about. */
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/**
 * Computes what a provider network says of its nodes and Vlans, and our finalizer, which it has while somebody is on it: nodes keep
 * their bridges for as long, and running pods do not notice that it is being deleted.
 */
export function desiredNetwork(network: ProviderNetworkSnapshot): Desired {
  const { name, object } = network
  const { finalizers, deletionTimestamp, uid } = object.metadata
  const isUsed = network.vlans.length > 0 || network.subnets.length > 0
  const kept: KubePatch = {
    resource: providerNetworkResource,
    name,
    merge: {
      metadata: { finalizers: isUsed ? withOurFinalizer(finalizers) : withoutOurFinalizer(finalizers) },
    },
  }
  if (deletionTimestamp !== undefined && !isUsed) return { ...nothing, patches: [kept] }
  // Nobody may add one to what is being deleted.
  const isWritten = deletionTimestamp === undefined && (isUsed || finalizers !== undefined)
  const regarding = { resource: providerNetworkResource, name, uid: uid ?? '' }
  const status = statusOf(network)
  return {
    ...nothing,
    patches: [...(isWritten ? [kept] : []), status],
    events: uid === undefined ? [] : complaintEvents(regarding, othersOf(object), complaintsOf(network)),
  }
}

function statusOf(network: ProviderNetworkSnapshot): KubePatch {
  const { name, object, nodes, vlans, observed, now } = network
  const [readyNodes, notReadyNodes] = [true, false].map((isReady) =>
    nodes.filter((node) => node.isReady === isReady).map((node) => node.name),
  )
  const { status } = object
  const others = withComplaints(othersOf(object), complaintsOf(network), now)
  const conditions = [
    ...nodes.map((node) => conditionOf(node, network)),
    ...withObservedGeneration(others, observed.observedGeneration, now).map((condition) => ({
      ...condition,
    })),
  ]
  return {
    resource: providerNetworkResource,
    name,
    subresource: 'status',
    merge: {
      status: {
        ...observed,
        ready: notReadyNodes?.length === 0,
        readyNodes: listOf(readyNodes, status?.readyNodes),
        notReadyNodes: listOf(notReadyNodes, status?.notReadyNodes),
        vlans: listOf(vlans, status?.vlans),
        conditions: listOf(conditions, status?.conditions),
      },
    },
  }
}

/** Conditions of no node. */
function othersOf({ status }: ProviderNetwork): readonly Condition[] {
  return status?.conditions?.filter(({ node = '' }) => node === '') ?? []
}

/** Says who keeps a deleted network from going. */
function complaintsOf({ object, vlans, subnets }: ProviderNetworkSnapshot): readonly Complaint[] {
  const groups = [
    ...(vlans.length === 0 ? [] : [`the Vlans ${listText(vlans, ', ')}`]),
    ...(subnets.length === 0 ? [] : [`the Subnets ${listText(subnets, ', ')}`]),
  ]
  const isHeld = object.metadata.deletionTimestamp !== undefined && groups.length > 0
  const message = `the network has ${groups.join(' and ')}: delete them, or put them on another network, first`
  const complaint = isHeld ? { reason: providerNetworkInUse, message } : undefined
  return [{ type: conditionType.error, status: 'True', complaint }]
}

/** A list that was never there has to have something in it. */
function listOf<T>(list: readonly T[] = [], before: readonly unknown[] | undefined): readonly T[] | null {
  return list.length > 0 || before !== undefined ? list : null
}

function conditionOf(
  { name: node, isReady, problem = 'its agent has yet to connect it' }: NodeState,
  { object, observed: { observedGeneration }, now }: ProviderNetworkSnapshot,
): NodeCondition {
  const change: ConditionChange = {
    type: conditionType.ready,
    status: isReady ? 'True' : 'False',
    reason: isReady ? providerNetworkReason.bridgeReady : providerNetworkReason.bridgeFailed,
    ...(isReady ? {} : { message: problem }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  }
  const before = object.status?.conditions?.filter((condition) => condition.node === node) ?? []
  const [condition] = setCondition(before, change, now)
  return { ...condition, node }
}
