import { conditionType, setCondition, withoutCondition } from '@kube-ovn/kube-api'
import type { Condition } from '@kube-ovn/kube-api'
import { ignoredTexts, type Ignored } from '@kube-ovn/no-effect'
import type { KubeEvent } from '@kube-ovn/reconcile'

/** Reason of the condition, and of the event that tells of it. */
const reason = 'NotThereYet'

/** Says in the conditions of an object what it asks for in vain, or takes the condition away when there is nothing. */
export function withIgnored(
  conditions: readonly Condition[],
  ignored: readonly Ignored[],
  now: number,
): readonly Condition[] {
  const type = conditionType.fieldsIgnored
  if (ignored.length === 0) return withoutCondition(conditions, type)
  return setCondition(conditions, { type, status: 'True', reason, message: messageOf(ignored) }, now)
}

/** Tells the user once, when it changes: afterwards the condition holds it. */
export function ignoredEvents(
  regarding: KubeEvent['regarding'],
  conditions: readonly Condition[] | undefined,
  ignored: readonly Ignored[],
): readonly KubeEvent[] {
  if (ignored.length === 0) return []
  const message = messageOf(ignored)
  const before = conditions?.find(({ type }) => type === conditionType.fieldsIgnored)
  return before?.message === message
    ? []
    : [{ regarding, type: 'Warning', reason: conditionType.fieldsIgnored, message }]
}

function messageOf(ignored: readonly Ignored[]): string {
  return `${ignoredTexts(ignored).join('. ')}. See "Not there yet" in docs/differences.md`
}
