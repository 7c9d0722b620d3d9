import { z } from 'zod'

/** A rule in the Common Expression Language that the API server evaluates, see `x-kubernetes-validations`. */
export interface CelRule {
  readonly rule: string
  /** Shown when `messageExpression` cannot be evaluated. */
  readonly message: string
  /** Yields the message with the refused value in it. */
  readonly messageExpression?: string
}

/*
 * Every field is optional and may be its zero value: upstream's clients write many keys explicitly ("", false, 0),
 * so readers treat absent and zero alike.
 */

export function text(description: string) {
  return z.string().optional().meta({ description })
}

/** A text that the API server refuses when `rules` do not hold. `maxLength` bounds what evaluating them may cost. */
export function checkedText(description: string, maxLength: number, ...rules: readonly CelRule[]) {
  return z.string().optional().meta({ description, maxLength, 'x-kubernetes-validations': rules })
}

export function flag(description: string) {
  return z.boolean().optional().meta({ description })
}

/** A flag that the API server sets to false when it is absent. */
export function flagDefaultingToFalse(description: string) {
  return z.boolean().optional().meta({ description, default: false })
}

export function integer(description: string) {
  return z.int().optional().meta({ description })
}

/** Of the status of every kind: which specification it is about. */
export const generation = z
  .int()
  .optional()
  .meta({ description: 'Generation of the object that status and conditions are about.', format: 'int64' })

export function uint32(description: string) {
  return z.int().min(0).max(0xffff_ffff).optional().meta({ description, format: 'int64' })
}

/**
 * An integer of any size, a bare JSON number on the wire: a /64 has more addresses than a `number` counts exactly.
 *
 * The API server itself keeps 64-bit floating point beyond 2^63, so what comes back is the nearest `number`.
 */
export function bigCount(description: string) {
  return z.union([z.number(), z.bigint()]).optional().meta({ description })
}

export function texts(description: string) {
  return z.array(z.string()).optional().meta({ description })
}

export function list<T extends z.ZodType>(description: string, item: T) {
  return z.array(item).optional().meta({ description })
}

/** A selector of metav1: all of `matchLabels` and `matchExpressions` must hold; an empty one selects everything. */
export const labelSelector = z
  .object({
    matchLabels: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Labels that must have exactly these values.' }),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().meta({ description: 'Label that the expression is about.' }),
          operator: z.string().meta({ description: 'In, NotIn, Exists or DoesNotExist.' }),
          values: texts('Values for In and NotIn.'),
        }),
      )
      .optional()
      .meta({ description: 'Expressions about labels, all of which must hold.' }),
  })
  .meta({ description: 'A label selector.' })
