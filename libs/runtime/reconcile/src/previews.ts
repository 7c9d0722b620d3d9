import type { Watch } from '@kube-ovn/tables'
import { planChanges, type PlannedChange } from './change-plan.ts'
import type { DerivedTables } from './derived-tables.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import { NoForkError } from './errors.ts'
import type { Facts } from './facts.ts'
import type { Feature, Key } from './feature.ts'
import type { Job } from './jobs.ts'
import type { Fork, KernelOptions } from './kernel-options.ts'
import type { OwnerMark } from './marks.ts'
import { ObjectOverlay } from './object-overlay.ts'
import type { PatchSender } from './patches.ts'
import type { Plan } from './plan.ts'
import type { Triggers } from './triggers.ts'

interface PreviewsOptions<W> extends Pick<KernelOptions<W>, 'world' | 'forkWorld' | 'objects'> {
  readonly features: ReadonlyMap<string, Feature<Key, unknown, W>>
  readonly triggers: Triggers<W>
  readonly derived: DerivedTables
  readonly watches: ReadonlyMap<string, Watch>
  readonly facts: Facts
  readonly sender: PatchSender
  readonly plan: (jobs: readonly Job<W>[]) => Plan
}

/** Plans that are not carried out. */
export class Previews<W> {
  readonly #options: PreviewsOptions<W>

  constructor(options: PreviewsOptions<W>) {
    this.#options = options
  }

  /** A copy of the world as it is. */
  fork(): W {
    const { world, forkWorld, derived } = this.#options
    const fork: Fork = {
      store: (_resource, store) => store,
      // Nobody is noted who reads outside a round.
      view: (table) => derived.view(table),
      // Tables stay as they are.
      follow: () => undefined,
      raise: () => undefined,
    }
    return forkWorld?.(world, fork) ?? world
  }

  ofKeys(owners: Iterable<OwnerMark>): DryRun {
    return dryRun(owners, { ...this.#options, world: this.fork() })
  }

  ofChanges(changes: readonly PlannedChange[]): DryRun {
    const { world, forkWorld, objects, derived } = this.#options
    if (forkWorld === undefined) throw new NoForkError()
    const overlay = new ObjectOverlay(objects)
    const tables = derived.fork()
    const raised: { signal: string; subject: string }[] = []
    const fork: Fork = {
      store: (resource, store, indexes) => overlay.store(resource, store, indexes),
      view: (table) => tables.view(table),
      follow: (table, follow) => tables.follow(table, follow),
      raise: (signal, subject) => void raised.push({ signal, subject }),
    }
    return planChanges(changes, {
      ...this.#options,
      ...{ overlay, tables, raised },
      facts: this.#options.facts.fork(tables.putFact),
      world: forkWorld(world, fork),
    })
  }
}
