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
