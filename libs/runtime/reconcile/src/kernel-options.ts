import type { IndexFunction, KubeObject, Resource, Store } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Backoff, Clock } from '@kube-ovn/time'
import type { DatabaseSchema } from 'ovsdb-client'
import type { AnyTable, ViewOf } from '@kube-ovn/tables'
import type { Database } from './database.ts'
import type { DerivedTables, Follow } from './derived-tables.ts'
import type { Feature, Key } from './feature.ts'
import type { Objects } from './objects.ts'
import type { HeldDeletion } from './orphans.ts'
import type { Signals } from './signals.ts'

/** What is different in a world that is made for a plan. */
export interface Fork {
  /** A store as it would be after the changes that are planned. `indexes` are those of the store itself. */
  store<T extends KubeObject>(
    resource: Resource<T>,
    store: Store<T>,
    indexes?: Readonly<Record<string, IndexFunction<T>>>,
  ): Store<T>
  /** A derived table as it would be; only for worlds that have some. */
  view<T extends AnyTable>(table: T): ViewOf<T>
  /** Has something of the world follow a table that {@link DerivedTables.follow} is asked to follow, too. */
  follow(table: AnyTable, follow: Follow): void
  /** Takes what is raised, in the place of {@link Signals}. */
  raise(signal: string, subject: string): void
}

export interface KernelOptions<W> {
  readonly features: readonly Feature<Key, unknown, W>[]
  readonly world: W
  /** A world in which observing leaves no traces, for plans that are not carried out. `world` itself when absent. */
  forkWorld?(world: W, fork: Fork): W
  readonly database: Database
  readonly schema: DatabaseSchema
  readonly objects: Objects
  readonly signals?: Signals
  /** What the world derives from objects and rows. Started by then, or with the kernel. */
  readonly derived?: DerivedTables
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: KernelMetrics
  /** Name of the OVSDB lock that every transaction asserts. */
  readonly lock?: string
  /** Yields values in [0, 1), for jitter. */
  readonly random?: () => number
  /** Keys to a transaction. */
  readonly batchSize?: number
  readonly backoff?: Backoff
  /** Keys that have a request to the API server under way at a time. */
  readonly patchConcurrency?: number
  /** Told when deletions are held back until {@link Kernel.confirmOrphans}; with nothing when none are any more. */
  onOrphansHeld?(held: HeldDeletion | undefined): void
}

export const kernelDefaults = {
  batchSize: 50,
  /**
   * So many batches are one where one change of tables has woken all of them: what a policy says and who is in its sets is written at once. Each
   * key is observed in the same turn of the event loop.
   */
  mostBatches: 20,
  backoff: { initialMs: 100, maxMs: 60_000, factor: 2, jitter: 0.5 },
  patchConcurrency: 32,
} as const
