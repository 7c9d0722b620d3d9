import {
  conditionType,
  setCondition,
  subnetReason,
  subnetResource,
  withStandardConditions,
} from '@kube-ovn/kube-api'
import type { Condition, ConditionChange } from '@kube-ovn/kube-api'
import type { KubeEvent } from '@kube-ovn/reconcile'
import { subnetProblemText } from '../topology/errors.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/** Computes the conditions of a subnet, the very same list when nothing about it changed. */
export function subnetConditions(subnet: SubnetSnapshot): readonly Condition[] {
  const before = subnet.object?.status?.conditions ?? []
  const standard = withStandardConditions(
    before,
    [conditionType.validated, conditionType.ready, conditionType.error],
    subnet.now,
  )
  return changes(subnet, standard).reduce((list, change) => setCondition(list, change, subnet.now), standard)
}

function changes(subnet: SubnetSnapshot, conditions: readonly Condition[]): readonly ConditionChange[] {
  const { problem } = subnet
  if (problem !== undefined) {
    const reason = subnetReason.validateLogicalSwitchFailed
    const message = subnetProblemText(problem.details)
    return [
      { type: conditionType.error, status: 'True', reason, message },
      { type: conditionType.validated, status: 'False', reason, message },
      { type: conditionType.ready, status: 'False', reason, message },
    ]
  }
  const reason = subnetReason.resetLogicalSwitchAclSuccess
  const hadError = conditions.some(({ type, status }) => type === conditionType.error && status === 'True')
  return [
    ...(hadError ? [{ type: conditionType.error, status: 'False', reason } as const] : []),
    { type: conditionType.validated, status: 'True', reason },
    { type: conditionType.ready, status: 'True', reason },
  ]
}

/** Tells the user once, when the problem appears: afterwards the conditions hold it. */
export function subnetEvents(subnet: SubnetSnapshot): readonly KubeEvent[] {
  const { problem, object, name } = subnet
  if (problem === undefined || object?.metadata.uid === undefined) return []
  const message = subnetProblemText(problem.details)
  const isKnown = object.status?.conditions?.some(
    (condition) => condition.type === conditionType.validated && condition.message === message,
  )
  if (isKnown === true) return []
  const regarding = { resource: subnetResource, name, uid: object.metadata.uid }
  return [{ regarding, type: 'Warning', reason: subnetReason.validateLogicalSwitchFailed, message }]
}
