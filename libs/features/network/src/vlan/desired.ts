import {
  conditionType,
  vlanReason,
  vlanResource,
  withObservedGeneration,
  type Vlan,
} from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { complaintEvents, withComplaints, type Complaint, type Observed } from '@kube-ovn/domains-control'
import { subnetProblemText, type VlanState } from '@kube-ovn/domains-control/topology'

export interface VlanSnapshot {
  readonly name: string
  readonly object: Vlan
  readonly state: VlanState
  /** What its specification is completed by. */
  readonly written: { readonly provider: string; readonly id?: number }
  /** Names of the subnets on it. */
  readonly subnets: readonly string[]
  /** Which generation its status is about. */
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Computes what a Vlan says of itself. */
export function desiredVlan(vlan: VlanSnapshot): Desired {
  const { name, written } = vlan
  const status = statusOf(vlan)
  return {
    ...nothing,
    patches: [
      { resource: vlanResource, name, merge: { spec: { ...written } } },
      { resource: vlanResource, name, subresource: 'status', merge: { status } },
    ],
    events: eventsOf(vlan),
  }
}

/** As upstream, which has no list before there is something in it, and no condition: one is there as long as something is wrong. */
function statusOf(vlan: VlanSnapshot): NonNullable<KubePatch['merge']> {
  const { object, state, subnets, observed, now } = vlan
  const { status } = object
  const { isConflict } = state
  const before = status?.conditions ?? []
  const changed = withComplaints(before, complaintsOf(vlan), now)
  const conditions = withObservedGeneration(changed, observed.observedGeneration, now)
  return {
    ...observed,
    subnets: subnets.length > 0 || status?.subnets !== undefined ? subnets : null,
    conflict: isConflict || status?.conflict !== undefined ? isConflict : null,
    ...(before.length === 0 && conditions.length === 0
      ? {}
      : { conditions: conditions.map((condition) => ({ ...condition })) }),
  }
}

function eventsOf(vlan: VlanSnapshot): readonly KubeEvent[] {
  const { name, object } = vlan
  const { uid } = object.metadata
  if (uid === undefined) return []
  const regarding = { resource: vlanResource, name, uid }
  return complaintEvents(regarding, object.status?.conditions, complaintsOf(vlan))
}

function complaintsOf({ state: { problem } }: VlanSnapshot): readonly Complaint[] {
  const complaint =
    problem === undefined ? undefined : { reason: vlanReason.invalid, message: subnetProblemText(problem) }
  return [{ type: conditionType.validated, status: 'False', complaint }]
}
