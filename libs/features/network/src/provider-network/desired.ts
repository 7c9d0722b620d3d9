import {
  conditionType,
  providerNetworkReason,
  providerNetworkResource,
  setCondition,
  type ConditionChange,
  type NodeCondition,
  type ProviderNetwork,
} from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import type { Observed } from '@kube-ovn/domains-control'

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
  /** Which generation its status is about. */
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Computes what a provider network says of its nodes and Vlans. */
export function desiredStatus(network: ProviderNetworkSnapshot): Desired {
  const { name, object, nodes, vlans, observed } = network
  const [readyNodes, notReadyNodes] = [true, false].map((isReady) =>
    nodes.filter((node) => node.isReady === isReady).map((node) => node.name),
  )
  const { status } = object
  const conditions = nodes.map((node) => conditionOf(node, network))
  return {
    ...nothing,
    patches: [
      {
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
      },
    ],
  }
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
