import type { LabelSelector } from './label-selector.ts'

/** A label that whatever is selected has, and the values of which it has one; any value if there are none. */
export interface Term {
  readonly label: string
  readonly values: readonly string[] | undefined
}

/** Gives the term of a selector that fewest objects are likely to have; `undefined` if it asks for no label at all. */
export function narrowestTerm({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Term | undefined {
  let narrowest: Term | undefined
  for (const term of [
    ...Object.entries(matchLabels).map(([label, value]): Term => ({ label, values: [value] })),
    ...matchExpressions.flatMap(({ key, operator, values = [] }): readonly Term[] => {
      if (operator === 'In') return [{ label: key, values }]
      return operator === 'Exists' ? [{ label: key, values: undefined }] : []
    }),
  ]) {
    if (narrowest === undefined || widthOf(term) < widthOf(narrowest)) narrowest = term
  }
  return narrowest
}

function widthOf({ values }: Term): number {
  return values?.length ?? Number.POSITIVE_INFINITY
}
