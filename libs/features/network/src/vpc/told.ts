import { conditionType, vpcReason, vpcResource, withObservedGeneration, type Vpc } from '@kube-ovn/kube-api'
import type { Ignored } from '@kube-ovn/no-effect'
import type { KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import {
  complaintEvents,
  ignoredEvents,
  withComplaints,
  withIgnored,
  type Complaint,
  type Observed,
} from '@kube-ovn/domains-control'
import { vpcProblemsText, type VpcProblem } from '@kube-ovn/domains-control/topology'

/** What the user of a VPC is told. */
export interface ToldVpc {
  readonly name: string
  /** Absent for the default one that has yet to be created. */
  readonly object: Vpc | undefined
  /** Which generation its status is about. */
  readonly observed: Observed
  /** What has no effect. */
  readonly ignored: readonly Ignored[]
  /** What of it can not be carried out. */
  readonly problems?: readonly VpcProblem[]
  /** Why it can not be deleted. */
  readonly inUse?: { readonly reason: string; readonly message: string }
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Computes what the status says of problems. There is no list of conditions before there is something to tell. */
export function toldOf(vpc: ToldVpc): NonNullable<KubePatch['merge']> {
  const { object, observed, ignored, now } = vpc
  const before = object?.status?.conditions ?? []
  const changed = withComplaints(withIgnored(before, ignored, now), complaintsOf(vpc), now)
  const conditions = withObservedGeneration(changed, observed.observedGeneration, now)
  if (before.length === 0 && conditions.length === 0) return { ...observed }
  return { ...observed, conditions: conditions.map((condition) => ({ ...condition })) }
}

/** Tells the user once, when it changes: afterwards the conditions hold it. */
export function eventsOf(vpc: ToldVpc): readonly KubeEvent[] {
  const { name, object, ignored } = vpc
  if (object?.metadata.uid === undefined) return []
  const regarding = { resource: vpcResource, name, uid: object.metadata.uid }
  const conditions = object.status?.conditions
  return [
    ...complaintEvents(regarding, conditions, complaintsOf(vpc)),
    ...ignoredEvents(regarding, conditions, ignored),
  ]
}

function complaintsOf({ problems = [], inUse }: ToldVpc): readonly Complaint[] {
  const invalid =
    problems.length === 0 ? undefined : { reason: vpcReason.invalid, message: vpcProblemsText(problems) }
  return [
    { type: conditionType.validated, status: 'False', complaint: invalid },
    { type: conditionType.error, status: 'True', complaint: inUse },
  ]
}
