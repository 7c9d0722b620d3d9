import { setCondition, withoutCondition } from '@kube-ovn/kube-api'
import type { Condition } from '@kube-ovn/kube-api'
import type { KubeEvent } from '@kube-ovn/reconcile'

/** What may be wrong with an object, as a condition that is there only as long as it is so. */
export interface Complaint {
  readonly type: string
  readonly status: 'True' | 'False'
  /** Absent when there is nothing to complain about. */
  readonly complaint: { readonly reason: string; readonly message: string } | undefined
}

/** Says in the conditions of an object what is wrong with it. */
export function withComplaints(
  conditions: readonly Condition[],
  complaints: readonly Complaint[],
  now: number,
): readonly Condition[] {
  return complaints.reduce(
    (list, { type, status, complaint }) =>
      complaint === undefined
        ? withoutCondition(list, type)
        : setCondition(list, { type, status, ...complaint }, now),
    conditions,
  )
}

/** Tells the user once, when it changes: afterwards the conditions hold it. */
export function complaintEvents(
  regarding: KubeEvent['regarding'],
  conditions: readonly Condition[] | undefined,
  complaints: readonly Complaint[],
): readonly KubeEvent[] {
  return complaints.flatMap(({ type, complaint }): readonly KubeEvent[] =>
    complaint === undefined || isTold(conditions, type, complaint.message)
      ? []
      : [{ regarding, type: 'Warning', ...complaint }],
  )
}

function isTold(conditions: readonly Condition[] | undefined, type: string, message: string): boolean {
  return conditions?.some((one) => one.type === type && one.message === message) === true
}
