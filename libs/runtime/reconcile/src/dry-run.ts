import type { KubeOvnError } from '@kube-ovn/errors'
import type { Facts } from './facts.ts'
import type { Feature, Key, KubePatch } from './feature.ts'
import { findFeature, observeKey, type Job } from './jobs.ts'
import type { OwnerMark } from './marks.ts'
import type { Objects } from './objects.ts'
import type { PatchSender, Write } from './patches.ts'
import type { Plan } from './plan.ts'

/** What would change if keys were reconciled now. */
export interface DryRun extends Plan {
  readonly writes: readonly { readonly owner: OwnerMark; readonly patch: KubePatch; readonly write: Write }[]
  /** Keys whose feature threw. */
  readonly failed: ReadonlyMap<OwnerMark, unknown>
  /** Keys that would decide otherwise than they have. */
  readonly decisions: ReadonlySet<OwnerMark>
  /** What the user would have to correct, or what would have to change, by key. */
  readonly refusals: ReadonlyMap<OwnerMark, KubeOvnError>
}

export function refusalsOf<W>(jobs: Iterable<Job<W>>): ReadonlyMap<OwnerMark, KubeOvnError> {
  const refusals = new Map<OwnerMark, KubeOvnError>()
  for (const { owner, desired } of jobs)
    if (desired.problem !== undefined) refusals.set(owner, desired.problem)
  return refusals
}

interface DryRunOptions<W> {
  readonly features: ReadonlyMap<string, Feature<Key, unknown, W>>
  /** Observing in it leaves no traces. */
  readonly world: W
  readonly objects: Pick<Objects, 'store'>
  readonly sender: PatchSender
  readonly facts: Facts
  readonly plan: (jobs: readonly Job<W>[]) => Plan
}

/** Observes, decides and plans, and leaves it at that. */
export function dryRun<W>(owners: Iterable<OwnerMark>, options: DryRunOptions<W>): DryRun {
  const { features, sender, facts, plan } = options
  const failed = new Map<OwnerMark, unknown>()
  const jobs: Job<W>[] = []
  for (const owner of owners) {
    const found = findFeature(owner, features)
    if (found === undefined) continue
    try {
      jobs.push(observeKey(owner, found.feature, found.key, options))
    } catch (error) {
      failed.set(owner, error)
    }
  }
  const planned = plan(jobs)
  const writes = jobs.flatMap(({ owner, patches }) => {
    // Objects are told of rows that are there.
    if (planned.waiting.has(owner) || planned.problems.has(owner)) return []
    try {
      return sender.plan(owner, patches).map((one) => ({ owner, ...one }))
    } catch (error) {
      failed.set(owner, error)
      return []
    }
  })
  const decisions = jobs.filter(({ owner, desired }) => facts.differ(owner, desired.facts ?? []))
  return {
    ...planned,
    ...{ writes, failed },
    decisions: new Set(decisions.map(({ owner }) => owner)),
    refusals: refusalsOf(jobs),
  }
}
