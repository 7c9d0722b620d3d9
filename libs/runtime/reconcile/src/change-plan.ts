import type { KubeObject, ObjectChange, Resource } from '@kube-ovn/kube'
import type { Watch } from '@kube-ovn/tables'
import type { DerivedFork } from './derived-tables.ts'
import type { Feature, Key } from './feature.ts'
import { findFeature, observeKey, type Job } from './jobs.ts'
import { refusalsOf, type DryRun } from './dry-run.ts'
import type { Facts } from './facts.ts'
import { ownerMark, type OwnerMark } from './marks.ts'
import type { ObjectOverlay } from './object-overlay.ts'
import type { ObjectName, Objects } from './objects.ts'
import { joinPatches, planWrite } from './patches.ts'
import type { Plan } from './plan.ts'
import type { Triggers } from './triggers.ts'

/** A change of an object that has not happened: its state afterwards, or the name of what is deleted. */
export type PlannedChange =
  | { readonly resource: Resource; readonly object: KubeObject }
  | { readonly resource: Resource; readonly remove: ObjectName }

/** Keys may wake each other; a circle of them is left after so many rounds. */
const observationLimit = 10

interface ChangePlanOptions<W> {
  readonly features: ReadonlyMap<string, Feature<Key, unknown, W>>
  readonly triggers: Triggers<W>
  readonly objects: Pick<Objects, 'store'>
  readonly overlay: ObjectOverlay
  /** Derived from the overlay. */
  readonly tables: DerivedFork
  readonly watches: ReadonlyMap<string, Watch>
  /** Put into these tables. */
  readonly facts: Facts
  /** Sees the overlay; what is raised in it comes to `raised`. */
  readonly world: W
  readonly raised: { readonly signal: string; readonly subject: string }[]
  readonly plan: (jobs: readonly Job<W>[]) => Plan
}

/**
 * Finds out what changes of objects would lead to, as the kernel would go about it: the keys that they concern, then
 * those that are concerned by the patches and signals of these.
 *
 * What rows trigger is not followed.
 */
export function planChanges<W>(changes: readonly PlannedChange[], options: ChangePlanOptions<W>): DryRun {
  const { features, triggers, objects, overlay, tables, watches, facts, world, raised, plan } = options
  const pending = new Set<OwnerMark>()
  const observations = new Map<OwnerMark, number>()
  const jobs = new Map<OwnerMark, Job<W>>()
  const failed = new Map<OwnerMark, unknown>()
  const writes: DryRun['writes'][number][] = []
  const decisions = new Set<OwnerMark>()

  function read<R>(feature: string, key: Key, observe: () => R): R {
    const watch = watches.get(feature)
    return watch === undefined ? observe() : tables.read(watch, key, observe)
  }
  function takeConcerned(): void {
    for (const [feature, watch] of watches)
      for (const key of tables.concerned(watch)) pending.add(ownerMark(feature, key))
  }
  function wake(resource: Resource, change: ObjectChange): void {
    tables.put(resource, change)
    takeConcerned()
    for (const owner of triggers.ofObject(resource, change, world)) pending.add(owner)
  }
  function takeSignals(): void {
    for (const { signal, subject } of raised.splice(0)) {
      for (const owner of triggers.ofSignal(signal, subject, world)) pending.add(owner)
    }
  }
  function observe(owner: OwnerMark): void {
    const found = findFeature(owner, features)
    if (found === undefined) return
    try {
      const job = observeKey(owner, found.feature, found.key, { world, objects, read })
      jobs.set(owner, job)
      failed.delete(owner)
      if (facts.say(owner, job.desired.facts ?? [])) {
        decisions.add(owner)
        takeConcerned()
      }
      for (const patch of joinPatches(job.patches)) {
        const write = planWrite(patch, overlay.get(patch.resource, patch))
        if (write === undefined) continue
        writes.push({ owner, patch, write })
        for (const change of overlay.write(patch.resource, patch, write)) wake(patch.resource, change)
      }
    } catch (error) {
      failed.set(owner, error)
    }
  }

  const planned = changes.map((change) => ({
    resource: change.resource,
    change:
      'object' in change
        ? overlay.put(change.resource, change.object)
        : overlay.remove(change.resource, change.remove),
  }))
  for (const { resource, change } of planned) wake(resource, change)
  for (const owner of pending) {
    // Added again when something wakes it anew.
    pending.delete(owner)
    const count = observations.get(owner) ?? 0
    if (count >= observationLimit) continue
    observations.set(owner, count + 1)
    observe(owner)
    takeSignals()
  }
  return { ...plan([...jobs.values()]), writes, failed, decisions, refusals: refusalsOf(jobs.values()) }
}
