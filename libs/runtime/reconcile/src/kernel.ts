import { backoffDelayMs } from '@kube-ovn/time'
import type { RowChange } from 'ovsdb-client'
import { Adoption } from './adoption.ts'
import { catalogOf, type Catalog } from './catalog.ts'
import { commitPlan, isFaultOfContent, type CommitOptions } from './commit.ts'
import { followChanges } from './drift.ts'
import { NotSettledError } from './errors.ts'
import type { Desired, Feature, Key, KubePatch } from './feature.ts'
import { Garbage } from './garbage.ts'
import { findFeature, observeKey, wantOf, type Job } from './jobs.ts'
import { kernelDefaults, type KernelOptions } from './kernel-options.ts'
import { ownerMark, parseOwnerMark, type OwnerMark } from './marks.ts'
import { Memory } from './memory.ts'
import { ownersIn, rowsOwnedBy } from './orphans.ts'
import { PatchSender, type Write } from './patches.ts'
import { planRows, type Plan } from './plan.ts'
import { ProblemLog, retryOf } from './problems.ts'
import { WorkQueue } from './queue.ts'
import { Triggers } from './triggers.ts'
import { referencesOf } from './want.ts'

/** What would change if keys were reconciled now. */
export interface DryRun extends Plan {
  readonly writes: readonly { readonly owner: OwnerMark; readonly patch: KubePatch; readonly write: Write }[]
  /** Keys whose feature threw. */
  readonly failed: ReadonlyMap<OwnerMark, unknown>
}

/**
 * Makes the database and the API server what the features want, and keeps them so.
 *
 * Construct it when caches and stores are complete: what they lack counts as gone. Nothing happens before `start()`.
 */
export class Kernel<W> implements AsyncDisposable {
  readonly #options: KernelOptions<W>
  readonly #features: ReadonlyMap<string, Feature<Key, unknown, W>>
  readonly #catalog: Catalog
  readonly #adoption: Adoption
  readonly #memory = new Memory()
  readonly #triggers: Triggers<W>
  readonly #queue: WorkQueue<OwnerMark>
  readonly #sender: PatchSender
  readonly #problems: ProblemLog
  readonly #garbage: Garbage
  readonly #subscriptions = new DisposableStack()
  /** Keys that existed when this process last looked. */
  readonly #alive = new Set<OwnerMark>()
  /** Keys of the transaction under way: changes of their rows are ours. */
  readonly #inFlight = new Set<OwnerMark>()
  readonly #attempts = new Map<OwnerMark, number>()
  readonly #drifted = new Set<OwnerMark>()
  readonly #sentEvents = new Map<OwnerMark, ReadonlySet<string>>()
  #quietWaiters: (() => void)[] = []
  #phase: 'new' | 'started' | 'closed' = 'new'
  #isScheduled = false
  #round: Promise<void> | undefined

  /** Throws when the features contradict each other or the schema. */
  constructor(options: KernelOptions<W>) {
    this.#options = options
    const { features, database, schema, clock, logger, metrics, objects } = options
    this.#features = new Map(features.map((feature) => [feature.name, feature]))
    this.#catalog = catalogOf(schema, features)
    this.#adoption = new Adoption(this.#catalog, database.cache)
    this.#triggers = new Triggers(features, logger)
    this.#problems = new ProblemLog(logger)
    const concurrency = options.patchConcurrency ?? kernelDefaults.patchConcurrency
    this.#sender = new PatchSender({ objects, metrics, concurrency })
    const nameOf = (owner: OwnerMark): string => parseOwnerMark(owner)?.feature ?? ''
    this.#queue = new WorkQueue({
      clock,
      paceMs: (owner) => this.#features.get(nameOf(owner))?.paceMs ?? 0,
      onReady: () => this.#schedule(),
      observer: {
        added: (owner) => metrics.added(nameOf(owner)),
        taken: (owner, waitedMs) => metrics.taken(nameOf(owner), waitedMs),
        finished: (owner, workedMs) => metrics.finished(nameOf(owner), workedMs),
      },
    })
    this.#garbage = new Garbage({
      ...{ rows: database.cache, catalog: this.#catalog, adoption: this.#adoption, logger, metrics },
      release: (owner) => this.#queue.add(owner, 'initial'),
      commit: (plan) => commitPlan(plan, this.#commitOptions),
      ...(options.onOrphansHeld === undefined ? {} : { onHeld: (held) => options.onOrphansHeld?.(held) }),
    })
    metrics.observe({ depth: () => this.#depths(nameOf), working: () => this.#workTimes(nameOf) })
  }

  /** Begins to follow changes, and queues every key that anything which exists now concerns. */
  start(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'started'
    const { database, objects, signals, world } = this.#options
    this.#adoption.rebuild()
    this.#subscriptions.use(database.onChange((changes) => this.#onRows(changes)))
    this.#subscriptions.use(database.onState(() => this.#schedule()))
    this.#subscriptions.use(
      objects.onChange((resource, change) => {
        const band = change.initial ? 'initial' : 'live'
        for (const owner of this.#triggers.ofObject(resource, change, world)) this.#queue.add(owner, band)
      }),
    )
    if (signals !== undefined) {
      this.#subscriptions.use(signals.onRaise((signal, subject) => this.raise(signal, subject)))
    }
    for (const owner of this.#knownOwners(world)) this.#queue.add(owner, 'initial')
    this.#schedule()
  }

  raise(signal: string, subject: string): void {
    for (const owner of this.#triggers.ofSignal(signal, subject, this.#options.world))
      this.#queue.add(owner, 'live')
  }

  /** Queues one key, whatever triggers say. */
  enqueue(feature: string, key: Key): void {
    this.#queue.add(ownerMark(feature, key), 'live')
  }

  /** Resolves when nothing is queued or under way. Keys that wait for a retry, a recheck or a change do not count. */
  quiet(): Promise<void> {
    if (this.#isQuiet) return Promise.resolve()
    return new Promise((resolve) => this.#quietWaiters.push(resolve))
  }

  /** Whether no key has gone unserved for longer than `limitMs`. */
  isReady(limitMs: number): boolean {
    return this.#phase === 'started' && this.#queue.oldestMs <= limitMs
  }

  /** Age of the key that has gone unserved longest. */
  get oldestUnservedMs(): number {
    return this.#queue.oldestMs
  }

  /** Lets the deletions that were held back go ahead. */
  confirmOrphans(): void {
    this.#garbage.confirm()
    this.#schedule()
  }

  /** What would change if these keys were reconciled now. Nothing is changed by it. */
  plan(keys: Iterable<{ readonly feature: string; readonly key: Key }>): DryRun {
    return this.#dryRun([...keys].map(({ feature, key }) => ownerMark(feature, key)))
  }

  /** What would change if every key were reconciled from scratch: nothing, if nothing was missed. */
  recomputeAll(): DryRun {
    const world = this.#options.forkWorld?.(this.#options.world) ?? this.#options.world
    const owners = new Set([...this.#knownOwners(world), ...this.#memory.owners(), ...this.#alive])
    return this.#dryRun([...owners].filter((owner) => !this.#garbage.isHeld(owner)))
  }

  /** Stops taking keys, and waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#phase = 'closed'
    this.#subscriptions.dispose()
    this.#queue[Symbol.dispose]()
    await this.#round
  }

  get #isQuiet(): boolean {
    return this.#queue.isIdle && this.#round === undefined && !this.#isScheduled && !this.#garbage.hasWork
  }

  get #isConnected(): boolean {
    return this.#options.database.state.phase === 'connected'
  }

  /** Rounds start in a later turn of the event loop, so that whatever arrives in this one goes into the same round. */
  #schedule(): void {
    if (this.#isScheduled || this.#round !== undefined || this.#phase !== 'started' || !this.#isConnected)
      return
    if (!this.#queue.hasReady && this.#isQuiet) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#phase !== 'started') return
      this.#round = this.#runRound().finally(() => {
        this.#round = undefined
        if (this.#queue.hasReady || this.#garbage.hasWork) this.#schedule()
        this.#announceQuiet()
      })
    })
  }

  async #runRound(): Promise<void> {
    const owners = this.#queue.take(this.#options.batchSize ?? kernelDefaults.batchSize)
    if (owners.length > 0) await this.#reconcile(owners)
    else if (this.#queue.isIdle) await this.#garbage.collect()
  }

  #announceQuiet(): void {
    if (!this.#isQuiet) return
    const waiters = this.#quietWaiters
    this.#quietWaiters = []
    for (const resolve of waiters) resolve()
  }

  /** Brings keys that were taken to their end: each is settled, held or failed when this resolves, but for patches. */
  async #reconcile(owners: readonly OwnerMark[]): Promise<void> {
    const startedMs = this.#options.clock.monotonic()
    const jobs = owners.flatMap((owner) => this.#observe(owner, startedMs))
    // No await between observing and sending: what was observed cannot have changed.
    const plan = this.#planJobs(jobs)
    const touched: Job<W>[] = []
    for (const job of jobs) {
      if (job.desired.hold === true) {
        this.#settle(job, startedMs)
        continue
      }
      const problem = plan.problems.get(job.owner)
      const missing = plan.held.get(job.owner)
      if (problem !== undefined) this.#fail(job.owner, problem, startedMs)
      else if (missing !== undefined)
        this.#hold(
          job,
          missing.map(({ kind, id }) => `${kind}/${id}`),
          startedMs,
        )
      else if (plan.touched.has(job.owner)) touched.push(job)
      else this.#settle(job, startedMs)
    }
    if (touched.length === 0) return
    for (const { owner } of touched) this.#inFlight.add(owner)
    try {
      const ms = await commitPlan(plan, this.#commitOptions)
      this.#logCommit(plan, ms)
    } catch (error) {
      this.#inFlight.clear()
      await this.#commitFailed(touched, error, startedMs)
      return
    }
    const rest = this.#planJobs(touched)
    this.#inFlight.clear()
    for (const job of touched) {
      if (!rest.touched.has(job.owner) && !rest.held.has(job.owner)) {
        this.#settle(job, startedMs)
        continue
      }
      const differences = rest.outcomes.filter((one) => one.owner === job.owner)
      const lines = differences.map(({ id, outcome, columns }) => [id, outcome, ...(columns ?? [])].join(' '))
      this.#fail(job.owner, new NotSettledError(job.owner, lines), startedMs)
    }
  }

  /** Halves the keys until the one at fault is alone; the others succeed. */
  async #commitFailed(touched: readonly Job<W>[], error: unknown, startedMs: number): Promise<void> {
    if (touched.length === 1 || !isFaultOfContent(error)) {
      for (const job of touched) this.#fail(job.owner, error, startedMs, job)
      return
    }
    const owners = touched.map((job) => job.owner)
    const middle = Math.ceil(owners.length / 2)
    await this.#reconcile(owners.slice(0, middle))
    await this.#reconcile(owners.slice(middle))
  }

  #observe(owner: OwnerMark, startedMs: number): readonly Job<W>[] {
    const found = findFeature(owner, this.#features)
    if (found === undefined) {
      this.#queue.done(owner)
      return []
    }
    try {
      const job = observeKey(owner, found.feature, found.key, this.#options.world)
      if (!job.isGone) this.#alive.add(owner)
      else if (isNothing(job.desired) && !this.#alive.has(owner) && !this.#garbage.isReleased(owner)) {
        if (rowsOwnedBy(owner, this.#options.database.cache, this.#catalog).length > 0) {
          this.#garbage.addOrphan(owner)
          this.#queue.done(owner)
          return []
        }
      }
      return [job]
    } catch (error) {
      this.#fail(owner, error, startedMs)
      return []
    }
  }

  #planJobs(jobs: readonly Job<W>[]): Plan {
    return planRows({
      wants: jobs.filter((job) => job.desired.hold !== true).map((job) => wantOf(job, this.#memory)),
      rows: this.#options.database.cache,
      catalog: this.#catalog,
      adoptable: this.#adoption,
      holderOf: (id) => this.#memory.holderOf(id),
    })
  }

  #remember(job: Job<W>, isSettled: boolean): void {
    const references = referencesOf(wantOf(job, this.#memory), this.#catalog, () => true)
    this.#memory.remember(job.owner, job.desired, references, isSettled)
  }

  #hold(job: Job<W>, missing: readonly string[], startedMs: number): void {
    const { owner, feature, key } = job
    this.#remember(job, false)
    this.#garbage.markFailing(owner)
    this.#options.logger.debug('key held until rows appear', { feature: feature.name, key, missing })
    this.#sendEvents(job)
    this.#finish(job, 'requeue', startedMs)
  }

  /** The rows are as wanted: the key's patches may go out. The next round does not wait for them. */
  #settle(job: Job<W>, startedMs: number): void {
    const { owner, feature, desired } = job
    if (desired.hold === true) {
      // What it has stays, and what it would adopt must not be collected.
      this.#garbage.markFailing(owner)
    } else {
      this.#remember(job, true)
      this.#garbage.markSettled(owner)
    }
    if (this.#drifted.delete(owner)) this.#options.metrics.driftHealed(feature.name)
    this.#sendEvents(job)
    if (desired.patches.length === 0) {
      this.#answer(job, startedMs)
      return
    }
    this.#sender
      .send(owner, feature.name, desired.patches)
      .then(
        (outcome) => {
          this.#answer(job, startedMs)
          if (outcome === 'again') this.#queue.add(owner, 'live')
        },
        (error: unknown) => this.#fail(owner, error, startedMs),
      )
      .finally(() => {
        this.#schedule()
        this.#announceQuiet()
      })
  }

  #answer(job: Job<W>, startedMs: number): void {
    const { owner, isGone, desired } = job
    if (desired.problem !== undefined) {
      this.#fail(owner, desired.problem, startedMs, undefined)
      this.#recheck(job)
      return
    }
    this.#attempts.delete(owner)
    this.#problems.clear(owner)
    if (isGone) {
      this.#alive.delete(owner)
      this.#sentEvents.delete(owner)
    }
    this.#finish(job, desired.recheckMs === undefined ? 'success' : 'requeue_after', startedMs)
  }

  #finish(job: Job<W>, result: 'success' | 'requeue' | 'requeue_after', startedMs: number): void {
    this.#options.metrics.reconciled(job.feature.name, result, this.#options.clock.monotonic() - startedMs)
    this.#queue.done(job.owner)
    this.#recheck(job)
  }

  #recheck({ owner, desired }: Job<W>): void {
    if (desired.recheckMs !== undefined) this.#queue.addAfter(owner, desired.recheckMs)
  }

  #fail(owner: OwnerMark, error: unknown, startedMs: number, job?: Job<W>): void {
    const { metrics, clock, random = Math.random, backoff = kernelDefaults.backoff } = this.#options
    const feature = parseOwnerMark(owner)?.feature ?? ''
    const attempt = this.#attempts.get(owner) ?? 0
    this.#attempts.set(owner, attempt + 1)
    if (job !== undefined) this.#remember(job, false)
    metrics.reconciled(feature, 'error', clock.monotonic() - startedMs)
    this.#queue.done(owner)
    if (retryOf(error) !== 'backoff') {
      metrics.parked(feature)
      this.#problems.report(owner, error, { attempt: attempt + 1 })
      return
    }
    this.#garbage.markFailing(owner)
    metrics.retried(feature)
    const retryMs = backoffDelayMs(backoff, attempt, random)
    this.#problems.report(owner, error, { attempt: attempt + 1, retryMs })
    this.#queue.addAfter(owner, retryMs)
  }

  #sendEvents({ owner, desired }: Job<W>): void {
    const before = this.#sentEvents.get(owner)
    const now = new Set<string>()
    for (const event of desired.events) {
      const { uid, name } = event.regarding
      const text = JSON.stringify([uid, name, event.reason, event.message])
      if (before?.has(text) !== true && !now.has(text)) this.#options.objects.record(event)
      now.add(text)
    }
    if (now.size > 0) this.#sentEvents.set(owner, now)
    else this.#sentEvents.delete(owner)
  }

  #onRows(changes: readonly RowChange[]): void {
    const lookup = { rows: this.#options.database.cache, catalog: this.#catalog }
    const { drifted, unblocked } = followChanges(changes, {
      ...lookup,
      adoption: this.#adoption,
      memory: this.#memory,
    })
    for (const owner of drifted) {
      // The second plan after a commit looks at these.
      if (this.#inFlight.has(owner) || findFeature(owner, this.#features) === undefined) continue
      this.#drifted.add(owner)
      this.#queue.add(owner, 'live')
    }
    for (const owner of unblocked) if (!this.#inFlight.has(owner)) this.#queue.add(owner, 'live')
    for (const change of changes) {
      for (const owner of this.#triggers.ofRow(change, this.#options.world)) this.#queue.add(owner, 'live')
    }
  }

  #knownOwners(world: W): ReadonlySet<OwnerMark> {
    const { objects, database } = this.#options
    const owners = new Set(this.#triggers.all(objects, database.cache, world))
    for (const owner of ownersIn(database.cache, this.#catalog)) {
      if (findFeature(owner, this.#features) !== undefined) owners.add(owner)
    }
    return owners
  }

  #dryRun(owners: readonly OwnerMark[]): DryRun {
    const world = this.#options.forkWorld?.(this.#options.world) ?? this.#options.world
    const failed = new Map<OwnerMark, unknown>()
    const jobs = owners.flatMap((owner): readonly Job<W>[] => {
      const found = findFeature(owner, this.#features)
      if (found === undefined) return []
      try {
        return [observeKey(owner, found.feature, found.key, world)]
      } catch (error) {
        failed.set(owner, error)
        return []
      }
    })
    const writes = jobs.flatMap(({ owner, desired }) =>
      this.#sender.plan(owner, desired.patches).map((one) => ({ owner, ...one })),
    )
    return { ...this.#planJobs(jobs), writes, failed }
  }

  #logCommit(plan: Plan, ms: number): void {
    const counts = new Map<OwnerMark, Record<'inserted' | 'updated' | 'adopted' | 'deleted', number>>()
    for (const owner of plan.touched) counts.set(owner, { inserted: 0, updated: 0, adopted: 0, deleted: 0 })
    for (const { owner, outcome } of plan.outcomes) {
      const count = counts.get(owner)
      if (count !== undefined) count[outcome]++
    }
    for (const [owner, count] of counts) {
      this.#options.logger.info('rows committed', { ...parseOwnerMark(owner), ...count, ms })
    }
  }

  get #commitOptions(): CommitOptions {
    const { database, schema, lock, clock, metrics } = this.#options
    return { database, schema, lock, clock, metrics }
  }

  #depths(nameOf: (owner: OwnerMark) => string): ReadonlyMap<string, number> {
    const depths = new Map([...this.#features.keys()].map((name) => [name, 0]))
    for (const owner of this.#queue.waiting()) depths.set(nameOf(owner), (depths.get(nameOf(owner)) ?? 0) + 1)
    return depths
  }

  #workTimes(nameOf: (owner: OwnerMark) => string): ReadonlyMap<string, readonly number[]> {
    const times = new Map<string, number[]>([...this.#features.keys()].map((name) => [name, []]))
    for (const [owner, workedMs] of this.#queue.working()) times.get(nameOf(owner))?.push(workedMs / 1000)
    return times
  }
}

function isNothing({ rows, hold }: Desired): boolean {
  return rows.length === 0 && hold !== true
}
