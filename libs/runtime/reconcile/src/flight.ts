import type { RowChange } from 'ovsdb-client'
import { areAdditions } from './additions.ts'
import type { Catalog } from './catalog.ts'
import type { Commit } from './commit.ts'
import type { Job } from './jobs.ts'
import type { Memory } from './memory.ts'
import { isEntry, placeOf, type Place } from './places.ts'
import type { Plan } from './plan.ts'

/** A transaction that was sent, and the keys for whose sake. */
export interface Flight<W> {
  readonly plan: Plan
  readonly jobs: readonly Job<W>[]
  readonly startedMs: number
  readonly commit: Promise<Commit>
  /** What changed since it was sent, but for what is known to be another flight's doing. */
  seen: (readonly RowChange[])[]
}

/**
 * Whether it makes no difference to a plan if it is made before or after transactions that are under way.
 *
 * So it is when both only add, when neither waits for rows or entries or lets go of values of which others may be the last to want them,
 * and when no row, and no entry of a map, is wanted by both.
 */
export function isIndependent<W>(
  plan: Plan,
  jobs: readonly Job<W>[],
  flights: Iterable<Flight<W>>,
  { catalog, memory }: { readonly catalog: Catalog; readonly memory: Memory },
): boolean {
  if (!isPlain(plan, jobs, catalog, memory)) return false
  const ids = new Set(plan.outcomes.map(({ id }) => id))
  const places = new Set(entriesOf(jobs))
  for (const flight of flights) {
    if (!isPlain(flight.plan, flight.jobs, catalog, memory)) return false
    if (flight.plan.outcomes.some(({ id }) => ids.has(id))) return false
    if (places.size > 0 && entriesOf(flight.jobs).some((place) => places.has(place))) return false
  }
  return true
}

function entriesOf<W>(jobs: readonly Job<W>[]): readonly Place[] {
  return jobs.flatMap(({ desired }) => desired.members.filter(isEntry).map(placeOf))
}

function isPlain<W>(plan: Plan, jobs: readonly Job<W>[], catalog: Catalog, memory: Memory): boolean {
  if (plan.waiting.size + plan.awaited.size + plan.problems.size + plan.lacks.size > 0) return false
  if (jobs.some(({ owner, desired }) => desired.hold === true || memory.letsGo(owner, desired))) return false
  return areAdditions(plan.steps, catalog)
}
