import {
  conditionType,
  setCondition,
  vpcReason,
  vpcResource,
  withObservedGeneration,
  withoutCondition,
  type Condition,
  type Vpc,
} from '@kube-ovn/kube-api'
import type { Ignored } from '@kube-ovn/no-effect'
import type { KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { ignoredEvents, withIgnored, type Observed } from '@kube-ovn/domains-control'
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
  const changed = complaintsOf(vpc).reduce(
    (list, { type, status, complaint }) =>
      complaint === undefined
        ? withoutCondition(list, type)
        : setCondition(list, { type, status, ...complaint }, now),
    withIgnored(before, ignored, now),
  )
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
  const complaints = complaintsOf(vpc).flatMap(({ type, complaint }): readonly KubeEvent[] =>
    complaint === undefined || isTold(conditions, type, complaint.message)
      ? []
      : [{ regarding, type: 'Warning', ...complaint }],
  )
  return [...complaints, ...ignoredEvents(regarding, conditions, ignored)]
}

interface Complaint {
  readonly type: string
  readonly status: 'True' | 'False'
  /** Absent when there is nothing to complain about: then there is no such condition. */
  readonly complaint: { readonly reason: string; readonly message: string } | undefined
}

function complaintsOf({ problems = [], inUse }: ToldVpc): readonly Complaint[] {
  const invalid =
    problems.length === 0 ? undefined : { reason: vpcReason.invalid, message: vpcProblemsText(problems) }
  return [
    { type: conditionType.validated, status: 'False', complaint: invalid },
    { type: conditionType.error, status: 'True', complaint: inUse },
  ]
}

function isTold(conditions: readonly Condition[] | undefined, type: string, message: string): boolean {
  return conditions?.some((one) => one.type === type && one.message === message) === true
}
