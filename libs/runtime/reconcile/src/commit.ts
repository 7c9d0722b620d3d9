import {
  BadOperationError,
  ConstraintViolationError,
  DuplicateUuidError,
  ReferentialIntegrityError,
  SchemaMismatchError,
  type DatabaseSchema,
  type OperationResult,
  type Uuid,
} from 'ovsdb-client'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'
import type { Database } from './database.ts'
import { RowNameTakenError } from './errors.ts'
import { encodeSteps } from './encode.ts'
import { idsOfNew } from './landed.ts'
import { parseIdMark } from './marks.ts'
import type { Plan } from './plan.ts'

export interface CommitOptions {
  readonly database: Database
  readonly schema: DatabaseSchema
  readonly lock: string | undefined
  readonly clock: Clock
  readonly metrics: KernelMetrics
}

/** What came of a plan. */
export interface Commit {
  readonly ms: number
  /** Ids of new rows, by the names which they have in the plan. */
  readonly ids: ReadonlyMap<string, Uuid>
}

/** Carries a plan out as one transaction. When it resolves, the cache knows. */
export async function commitPlan(
  plan: Pick<Plan, 'steps' | 'outcomes'>,
  options: CommitOptions,
): Promise<Commit> {
  const { database, schema, lock, clock, metrics } = options
  const operations = encodeSteps(schema, plan.steps, lock)
  const startedMs = clock.monotonic()
  let results: readonly OperationResult[]
  try {
    results = await database.transact(operations)
  } catch (error) {
    metrics.transacted('failed', operations.length, clock.monotonic() - startedMs)
    throw error
  }
  const tookMs = clock.monotonic() - startedMs
  metrics.transacted('committed', operations.length, tookMs)
  for (const { id, outcome } of plan.outcomes) metrics.rowChanged(parseIdMark(id)?.kind ?? 'unknown', outcome)
  return { ms: tookMs, ids: idsOfNew(operations, results) }
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
