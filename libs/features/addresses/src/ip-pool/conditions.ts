import { type KubeOvnError, problemText } from '@kube-ovn/errors'
import { NoSubnetError, PoolConflictError } from '@kube-ovn/ipam'
import {
  conditionType,
  ipPoolReason,
  ipPoolResource,
  isConditionTrue,
  setCondition,
} from '@kube-ovn/kube-api'
import type { Condition, ConditionChange } from '@kube-ovn/kube-api'
import type { KubeEvent } from '@kube-ovn/reconcile'
import { IpPoolInUseError } from './errors.ts'
import type { IpPoolSnapshot } from './snapshot.ts'

interface Refusal {
  readonly reason: string
  readonly message: string
}

/** Why an IPPool is not in effect as it is written; its address set comes first, as it always did. */
function refusalOf({ addressSetProblem, problem }: IpPoolSnapshot): Refusal | undefined {
  if (addressSetProblem !== undefined) {
    return { reason: ipPoolReason.reconcileAddressSetFailed, message: problemText(addressSetProblem) }
  }
  if (problem === undefined) return undefined
  const reason =
    problem instanceof IpPoolInUseError ? ipPoolReason.addressesInUse : ipPoolReason.updateIpamFailed
  return { reason, message: messageOf(problem) }
}

/** Begins with the words that the original has, where it has some: tools look for them. */
function messageOf(problem: KubeOvnError): string {
  if (problem instanceof PoolConflictError) {
    const { pool, sibling, value, cure } = problem.details
    return `ippool ${pool} has conflict IPs with ippool ${sibling}: ${value}; ${cure}`
  }
  if (problem instanceof NoSubnetError) {
    const { subnet, cure } = problem.details
    return `subnet ${subnet} does not exist in IPAM; ${cure}`
  }
  return problemText(problem)
}

/** Computes the conditions of an IPPool, the very same list when nothing about it changed. */
export function ipPoolConditions(pool: IpPoolSnapshot): readonly Condition[] {
  const before = pool.object.status?.conditions ?? []
  return changes(pool, before).reduce((list, change) => setCondition(list, change, pool.now), before)
}

function changes(pool: IpPoolSnapshot, before: readonly Condition[]): readonly ConditionChange[] {
  const refusal = refusalOf(pool)
  if (refusal !== undefined) {
    return [
      { type: conditionType.ready, status: 'False', ...refusal },
      { type: conditionType.error, status: 'True', ...refusal },
    ]
  }
  const reason = ipPoolReason.updateIpamSucceeded
  return [
    { type: conditionType.ready, status: 'True', reason },
    ...(isConditionTrue(before, conditionType.error)
      ? [{ type: conditionType.error, status: 'False', reason } as const]
      : []),
  ]
}

/** Tells the user once, when something changes: afterwards the conditions hold it. */
export function ipPoolEvents(pool: IpPoolSnapshot): readonly KubeEvent[] {
  const { object, name, ignored } = pool
  if (object.metadata.uid === undefined) return []
  const regarding = { resource: ipPoolResource, name, uid: object.metadata.uid }
  const warnings = ignored.map((error) => ({
    regarding,
    type: 'Warning' as const,
    reason: ipPoolReason.updateIpamFailed,
    message: problemText(error),
  }))
  const ready = object.status?.conditions?.find(({ type }) => type === conditionType.ready)
  const refusal = refusalOf(pool)
  if (refusal !== undefined) {
    const isKnown = ready?.status === 'False' && ready.message === refusal.message
    return isKnown ? warnings : [...warnings, { regarding, type: 'Warning', ...refusal }]
  }
  if (ready?.status === 'True') return warnings
  const message = 'the addresses are handed out'
  return [...warnings, { regarding, type: 'Normal', reason: ipPoolReason.updateIpamSucceeded, message }]
}
