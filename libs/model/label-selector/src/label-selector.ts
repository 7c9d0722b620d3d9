export type Labels = Readonly<Record<string, string>>

/**
 * A selector of metav1: all of `matchLabels` and `matchExpressions` must hold; an empty one selects everything.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/
 */
export interface LabelSelector {
  readonly matchLabels?: Labels | undefined
  readonly matchExpressions?: readonly LabelRequirement[] | undefined
}

interface LabelRequirement {
  readonly key: string
  /** In, NotIn, Exists or DoesNotExist. */
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

/** Whether a selector selects an object with these labels. */
export function matchesLabels({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  for (const key in matchLabels) if (valueOf(labels, key) !== matchLabels[key]) return false
  return matchExpressions?.every((requirement) => meets(requirement, labels)) ?? true
}

/**
 * Throws for a selector that can not be compared with labels: nobody made sure of its shape.
 *
 * What passes never throws later on, whatever the labels.
 */
export function checkSelector({ matchLabels, matchExpressions }: LabelSelector): void {
  Object.keys(matchLabels ?? {})
  for (const requirement of matchExpressions ?? []) {
    meets(requirement, {})
    meets(requirement, { [requirement.key]: '' })
  }
}

function meets({ key, operator, values = [] }: LabelRequirement, labels: Labels): boolean {
  const value = valueOf(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      // The API server refuses other operators; an unknown one selects nothing.
      return false
  }
}

/** A label may be called as what every object inherits, e.g. `constructor`. */
export function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
