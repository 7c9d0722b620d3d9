import {
  BadOperationError,
  ConstraintViolationError,
  DuplicateUuidError,
  ReferentialIntegrityError,
  SchemaMismatchError,
  type DatabaseSchema,
} from 'ovsdb-client'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'
import type { Database } from './database.ts'
import { RowNameTakenError } from './errors.ts'
import { encodeSteps } from './encode.ts'
import { parseIdMark } from './marks.ts'
import type { Plan } from './plan.ts'
import type { RowIds } from './row-ids.ts'
import type { Step } from './steps.ts'

export interface CommitOptions {
  readonly database: Database
  readonly schema: DatabaseSchema
  readonly lock: string | undefined
  readonly clock: Clock
  readonly metrics: KernelMetrics
  readonly rowIds: RowIds
}

/** What came of a plan. */
export interface Commit {
  readonly ms: number
  /** Those of the plan as they were sent: new rows have ids, and are named by them. */
  readonly steps: readonly Step[]
}

/** Carries a plan out as one transaction. When it resolves, the cache knows. */
export async function commitPlan(
  plan: Pick<Plan, 'steps' | 'outcomes'>,
  options: CommitOptions,
): Promise<Commit> {
  const { database, schema, lock, clock, metrics, rowIds } = options
  const steps = rowIds.give(plan.steps)
  const operations = encodeSteps(schema, steps, lock)
  const startedMs = clock.monotonic()
  try {
    await database.transact(operations)
  } catch (error) {
    rowIds.learn(steps, error)
    metrics.transacted('failed', operations.length, clock.monotonic() - startedMs)
    throw error
  }
  rowIds.learn(steps)
  const tookMs = clock.monotonic() - startedMs
  metrics.transacted('committed', operations.length, tookMs)
  for (const { id, outcome } of plan.outcomes) metrics.rowChanged(parseIdMark(id)?.kind ?? 'unknown', outcome)
  return { ms: tookMs, steps }
}

/**
 * Whether a transaction failed for what it contained, so that other keys may succeed without the one at fault.
 *
 * A lost connection, lock or leader concerns all keys alike.
 */
export function isFaultOfContent(error: unknown): boolean {
  return faultsOfContent.some((type) => error instanceof type)
}

const faultsOfContent = [
  RowNameTakenError,
  ConstraintViolationError,
  ReferentialIntegrityError,
  BadOperationError,
  DuplicateUuidError,
  SchemaMismatchError,
]
