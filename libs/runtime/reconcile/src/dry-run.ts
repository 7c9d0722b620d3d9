import type { Feature, Key, KubePatch } from './feature.ts'
import { findFeature, observeKey, type Job } from './jobs.ts'
import type { OwnerMark } from './marks.ts'
import type { PatchSender, Write } from './patches.ts'
import type { Plan } from './plan.ts'

/** What would change if keys were reconciled now. */
export interface DryRun extends Plan {
  readonly writes: readonly { readonly owner: OwnerMark; readonly patch: KubePatch; readonly write: Write }[]
  /** Keys whose feature threw. */
  readonly failed: ReadonlyMap<OwnerMark, unknown>
}

interface DryRunOptions<W> {
  readonly features: ReadonlyMap<string, Feature<Key, unknown, W>>
  /** Observing in it leaves no traces. */
  readonly world: W
  readonly sender: PatchSender
  readonly plan: (jobs: readonly Job<W>[]) => Plan
}

/** Observes, decides and plans, and leaves it at that. */
export function dryRun<W>(owners: Iterable<OwnerMark>, options: DryRunOptions<W>): DryRun {
  const { features, world, sender, plan } = options
  const failed = new Map<OwnerMark, unknown>()
  const jobs: Job<W>[] = []
  for (const owner of owners) {
    const found = findFeature(owner, features)
    if (found === undefined) continue
    try {
      jobs.push(observeKey(owner, found.feature, found.key, world))
    } catch (error) {
      failed.set(owner, error)
    }
  }
  const writes = jobs.flatMap(({ owner, desired }) =>
    sender.plan(owner, desired.patches).map((one) => ({ owner, ...one })),
  )
  return { ...plan(jobs), writes, failed }
}
