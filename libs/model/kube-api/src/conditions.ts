import { z } from 'zod'
import { integer, text } from './fields.ts'
import type { DeepReadonly } from './deep-readonly.ts'

/** Condition of a kubeovn.io object. Not metav1's: it has `lastUpdateTime`, and nothing is required. */
export const conditionSchema = z.object({
  type: text('What the condition is about, e.g. Ready.'),
  status: text('True, False or Unknown.'),
  reason: text('One word for the cause of the last change.'),
  message: text('What happened, for a person.'),
  observedGeneration: integer('Generation of the spec that the condition speaks of.'),
  lastUpdateTime: text('When anything of the condition last changed.'),
  lastTransitionTime: text('When the status last changed.'),
})

export type Condition = DeepReadonly<z.infer<typeof conditionSchema>>

export type ConditionStatus = 'True' | 'False' | 'Unknown'

/** Condition types that several kinds have. */
export const conditionType = {
  /** The controller considers the object in effect. */
  ready: 'Ready',
  /** The spec passed the controller's validation. */
  validated: 'Validated',
  /** The last error. */
  error: 'Error',
  /** Of this project: fields ask for what is not there yet. It is there, and true, only as long as some do. */
  fieldsIgnored: 'FieldsIgnored',
} as const

/** What a condition says that was created before anything was found out. */
const initialCondition = { status: 'Unknown', reason: 'Init', message: 'Not Observed' } as const

export interface ConditionChange {
  readonly type: string
  readonly status: ConditionStatus
  readonly reason: string
  /** Absent means an empty message. */
  readonly message?: string
  readonly observedGeneration?: number
}

/**
 * Puts a condition into a list and returns the list, the very same one when nothing changes.
 *
 * `lastUpdateTime` moves with any change, `lastTransitionTime` only with the status. A change without
 * `observedGeneration` leaves the recorded one as it is. New conditions go to the end.
 *
 * @param nowMs milliseconds since the epoch; the API keeps whole seconds.
 */
export function setCondition(
  conditions: readonly Condition[],
  change: ConditionChange,
  nowMs: number,
): readonly Condition[] {
  const now = kubeTime(nowMs)
  const index = conditions.findIndex((condition) => condition.type === change.type)
  const old = conditions[index]
  if (old === undefined) {
    return [...conditions, { ...change, lastUpdateTime: now, lastTransitionTime: now }]
  }
  const observedGeneration = change.observedGeneration ?? old.observedGeneration
  if (
    old.status === change.status &&
    (old.reason ?? '') === change.reason &&
    (old.message ?? '') === (change.message ?? '') &&
    old.observedGeneration === observedGeneration
  ) {
    return conditions
  }
  const { message: _message, ...kept } = old
  const changed: Condition = {
    ...kept,
    ...change,
    lastUpdateTime: now,
    lastTransitionTime: old.status === change.status ? (old.lastTransitionTime ?? now) : now,
  }
  return conditions.with(index, changed)
}

/**
 * As {@link setCondition}, of a kind whose conditions are metav1's: they have no `lastUpdateTime`. The server would drop one, and nobody
 * would ever find what he wrote.
 */
export function setMetaCondition(
  conditions: readonly Condition[],
  change: ConditionChange,
  nowMs: number,
): readonly Condition[] {
  const changed = setCondition(conditions, change, nowMs)
  if (changed === conditions) return conditions
  return changed.map((condition) => {
    if (condition.type !== change.type) return condition
    const { lastUpdateTime: _lastUpdateTime, ...kept } = condition
    return kept
  })
}

/** Adds the conditions of the given types that are absent, as `Unknown`. Same list when none is. */
export function withStandardConditions(
  conditions: readonly Condition[],
  types: readonly string[],
  nowMs: number,
): readonly Condition[] {
  const known = new Set(conditions.map((condition) => condition.type))
  return types
    .filter((type) => !known.has(type))
    .reduce((list, type) => setCondition(list, { type, ...initialCondition }, nowMs), conditions)
}

/** Takes the condition of a type out of a list. Same list when there is none. */
export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  const others = conditions.filter((condition) => condition.type !== type)
  return others.length === conditions.length ? conditions : others
}

const ours: ReadonlySet<string> = new Set(Object.values(conditionType))

/**
 * Says of which generation conditions speak: of those that the controller sets, and sets again for each generation. Same list when they
 * say so already.
 */
export function withObservedGeneration(
  conditions: readonly Condition[],
  observedGeneration: number | undefined,
  nowMs: number,
): readonly Condition[] {
  const isOther = ({ type, observedGeneration: said }: Condition) =>
    ours.has(type ?? '') && said !== observedGeneration
  if (observedGeneration === undefined || !conditions.some(isOther)) return conditions
  const lastUpdateTime = kubeTime(nowMs)
  return conditions.map((condition) =>
    isOther(condition) ? { ...condition, observedGeneration, lastUpdateTime } : condition,
  )
}

/** Tells whether a condition of the type is there and true. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
}

/** Time as Kubernetes writes it: RFC 3339 in UTC, whole seconds. */
export function kubeTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
