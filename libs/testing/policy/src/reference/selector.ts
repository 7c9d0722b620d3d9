import type { LabelSelector } from '@kube-ovn/kube-api/core'

type Labels = Readonly<Record<string, string>>

/** @see metav1.LabelSelector: all of it must hold, and an empty one selects everything */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector
  if (Object.entries(matchLabels).some(([key, value]) => labels[key] !== value)) return false
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key]
    if (operator === 'Exists') return value !== undefined
    if (operator === 'DoesNotExist') return value === undefined
    if (operator === 'In') return value !== undefined && values.includes(value)
    return operator === 'NotIn' && (value === undefined || !values.includes(value))
  })
}

/** Whether it says anything: operators are four, and two of them have values. */
export function isReadable({ matchExpressions = [] }: LabelSelector): boolean {
  return matchExpressions.every(({ operator, values = [] }) =>
    ['In', 'NotIn'].includes(operator)
      ? values.length > 0
      : ['Exists', 'DoesNotExist'].includes(operator) && values.length === 0,
  )
}
