import type { LabelSelector } from '@kube-ovn/label-selector'
import type { Tried } from './tried.ts'
import { listOf, recordOf, refuse, textOf } from './written.ts'

export interface SelectorContext {
  readonly tried: Tried
  /** What is so while it can not be read. */
  readonly until: string
}

/**
 * Reads a selector that nobody made sure of; `undefined` where a part of it can not be read, each of which is told.
 *
 * Definitions of the policy APIs know texts and lists of texts in it, and no more: one with an operator that there is not would select nobody.
 */
export function readSelector(
  written: unknown,
  field: string,
  { tried, until }: SelectorContext,
): LabelSelector | undefined {
  const selector = tried(() => recordOf(written, field, until))
  if (selector === undefined) return undefined
  const { matchLabels, matchExpressions } = selector
  const labels =
    matchLabels === undefined
      ? {}
      : tried(() => ({ matchLabels: readLabels(matchLabels, `${field}.matchLabels`, until) }))
  const place = `${field}.matchExpressions`
  const entries = matchExpressions === undefined ? [] : tried(() => listOf(matchExpressions, place, until))
  const requirements = entries?.map((entry, at) =>
    tried(() => readRequirement(entry, `${place}[${at}]`, until)),
  )
  if (labels === undefined || requirements === undefined || requirements.includes(undefined)) return undefined
  const read = requirements.flatMap((one) => one ?? [])
  return { ...labels, ...(matchExpressions === undefined ? {} : { matchExpressions: read }) }
}

function readLabels(written: unknown, field: string, until: string): Readonly<Record<string, string>> {
  const entries = Object.entries(recordOf(written, field, until))
  return Object.fromEntries(entries.map(([key, value]) => [key, textOf(value, `${field}.${key}`, until)]))
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number]

function readRequirement(written: unknown, field: string, until: string): Requirement {
  const { key: label, operator, values } = recordOf(written, field, until)
  const key = textOf(label, `${field}.key`, until)
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    const given = values === undefined ? [] : listOf(values, `${field}.values`, until)
    if (given.length > 0) return refuse(`${field}.values`, values, `write none beside ${operator}; ${until}`)
    return { key, operator }
  }
  if (operator !== 'In' && operator !== 'NotIn')
    return refuse(`${field}.operator`, operator, `write In, NotIn, Exists or DoesNotExist; ${until}`)
  const texts = listOf(values, `${field}.values`, until)
  if (texts.length === 0) return refuse(`${field}.values`, values, `write at least one; ${until}`)
  return { key, operator, values: texts.map((one, at) => textOf(one, `${field}.values[${at}]`, until)) }
}
