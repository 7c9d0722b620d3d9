import type { RowRef } from '@kube-ovn/ovn-names'
import { backoffDelayMs } from '@kube-ovn/time'
import type { RowChange, Uuid } from 'ovsdb-client'
import { Adoption } from './adoption.ts'
import { Answers } from './answers.ts'
import { catalogOf, type Catalog } from './catalog.ts'
import type { PlannedChange } from './change-plan.ts'
import type { DatabaseState } from './database.ts'
import { logCommit } from './commit-log.ts'
import { areAdditions, isIndependent, type Flight } from './flight.ts'
import { haveJustLanded } from './landed.ts'
import { commitPlan, isFaultOfContent, type CommitOptions } from './commit.ts'
import { followChanges } from './drift.ts'
import { NotSettledError } from './errors.ts'
import { DriftLimit } from './drift-limit.ts'
import type { DryRun } from './dry-run.ts'
import { EventLog } from './events.ts'
import type { Desired, Feature, Key } from './feature.ts'
import { Garbage } from './garbage.ts'
import { findFeature, observeKey, wantOf, type Job } from './jobs.ts'
import { kernelDefaults, type KernelOptions } from './kernel-options.ts'
import { featureOf, idMark, ownerMark, type OwnerMark } from './marks.ts'
import { Batch, Memory } from './memory.ts'
import { ownersIn, rowsOwnedBy } from './orphans.ts'
import { MissingColumns } from './missing-columns.ts'
import { PatchSender } from './patches.ts'
import { StrayMembers } from './stray-members.ts'
import { planRows, type Plan } from './plan.ts'
import { Previews } from './previews.ts'
import { ProblemLog } from './problems.ts'
import { queueGauges, queueObserver } from './queue-metrics.ts'
import { WorkQueue } from './queue.ts'
import { Triggers } from './triggers.ts'
import { UnservedKeys } from './unserved.ts'
import { referencesOf } from './want.ts'

/**
 * Makes the database and the API server what the features want, and keeps them so.
 *
 * Construct it when caches and stores are complete: what they lack counts as gone. Nothing happens before `start()`.
 */
export class Kernel<W> implements AsyncDisposable {
  readonly #options: KernelOptions<W>
  readonly #features: ReadonlyMap<string, Feature<Key, unknown, W>>
  readonly #catalog: Catalog
  #missing: MissingColumns
  readonly #adoption: Adoption
  readonly #memory = new Memory()
  readonly #triggers: Triggers<W>
  readonly #queue: WorkQueue<OwnerMark>
  readonly #sender: PatchSender
  readonly #previews: Previews<W>
  readonly #answers: Answers<W>
  readonly #strays: StrayMembers
  readonly #garbage: Garbage
  #sweepAttempts = 0
  readonly #subscriptions = new DisposableStack()
  /** Keys that existed when this process last looked. */
  readonly #alive = new Set<OwnerMark>()
  /** Keys of the transaction under way: changes of their rows are ours. */
  readonly #inFlight = new Set<OwnerMark>()
  /** Transactions under way, in the order in which they were sent. */
  readonly #flights = new Set<Flight<W>>()
  /** Keys of whose rows somebody else changed one; what they have of it may still be what they want. */
  readonly #drifted = new Map<OwnerMark, 'suspected' | 'found'>()
  readonly #unserved: UnservedKeys
  readonly #driftLimit: DriftLimit
  #quietWaiters: (() => void)[] = []
  #phase: 'new' | 'started' | 'closed' = 'new'
  #isScheduled = false
  #holdBack: Disposable = { [Symbol.dispose]: () => undefined }
  #round: Promise<void> | undefined

  /** Throws when the features contradict each other or the schema. */
  constructor(options: KernelOptions<W>) {
    this.#options = options
    const { features, database, schema, clock, logger, metrics, objects } = options
    this.#features = new Map(features.map((feature) => [feature.name, feature]))
    this.#catalog = catalogOf(schema, features)
    this.#missing = new MissingColumns([], this.#catalog)
    this.#adoption = new Adoption(this.#catalog, database.cache)
    this.#triggers = new Triggers(features, logger)
    const concurrency = options.patchConcurrency ?? kernelDefaults.patchConcurrency
    this.#sender = new PatchSender({ objects, metrics, clock, concurrency })
    this.#previews = new Previews({
      ...options,
      features: this.#features,
      triggers: this.#triggers,
      sender: this.#sender,
      plan: (jobs) => this.#planJobs(jobs.map((job) => this.#possible(job))),
    })
    this.#driftLimit = new DriftLimit(clock)
    this.#unserved = new UnservedKeys(clock)
    this.#queue = new WorkQueue({
      clock,
      paceMs: (owner) => this.#features.get(featureOf(owner))?.paceMs ?? 0,
      onReady: () => this.#schedule(),
      observer: queueObserver(metrics),
    })
    const batchSize = options.batchSize ?? kernelDefaults.batchSize
    metrics.observe(queueGauges(this.#queue, [...this.#features.keys()], batchSize))
    const { backoff = kernelDefaults.backoff, random = Math.random } = options
    this.#answers = new Answers({
      queue: this.#queue,
      sender: this.#sender,
      metrics,
      clock,
      backoff,
      random,
      problems: new ProblemLog(logger),
      events: new EventLog((event) => objects.record(event)),
      onGone: (owner) => void this.#alive.delete(owner),
      onSent: () => this.#proceed(),
    })
    const lookup = { rows: database.cache, catalog: this.#catalog }
    this.#strays = new StrayMembers({ ...lookup, features, memory: this.#memory })
    this.#garbage = new Garbage({
      ...lookup,
      adoption: this.#adoption,
      strays: this.#strays,
      logger,
      metrics,
      release: (owner) => this.#queue.add(owner, 'initial'),
      commit: (plan) => commitPlan(plan, this.#commitOptions),
      retry: () => this.#sweepLater(),
      ...(options.onOrphansHeld === undefined ? {} : { onHeld: (held) => options.onOrphansHeld?.(held) }),
    })
  }

  /** Begins to follow changes, and queues every key that anything which exists now concerns. */
  start(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'started'
    const { database, objects, signals, world } = this.#options
    this.#adoption.rebuild()
    this.#strays.rebuild()
    this.#subscriptions.use(database.onChange((changes) => this.#onRows(changes)))
    this.#followSchema(database.state)
    this.#subscriptions.use(
      database.onState((state) => {
        this.#followSchema(state)
        this.#schedule()
      }),
    )
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
    return this.#phase === 'started' && this.oldestUnservedMs <= limitMs
  }

  /**
   * Age of the key that has gone unserved longest: that waits for its turn, is worked on, or could not be written for
   * no fault of its own. A key that is refused for what it wants has been served.
   */
  get oldestUnservedMs(): number {
    return Math.max(this.#queue.oldestMs, this.#unserved.oldestMs)
  }

  /** Lets the deletion of this token go ahead, if it is the one that is held back, or as soon as it is. */
  confirmOrphans(token: string): void {
    this.#garbage.confirm(token)
    this.#schedule()
  }

  /** What would change if these keys were reconciled now. Nothing is changed by it. */
  plan(keys: Iterable<{ readonly feature: string; readonly key: Key }>): DryRun {
    return this.#previews.ofKeys([...keys].map(({ feature, key }) => ownerMark(feature, key)))
  }

  /**
   * What would change, in the database and in other objects, if these objects were changed, in this order. Nothing is
   * changed by it: addresses are allocated in a copy.
   *
   * @throws {NoForkError} when the world cannot be copied
   */
  planChanges(changes: readonly PlannedChange[]): DryRun {
    return this.#previews.ofChanges(changes)
  }

  /** What would change if every key were reconciled from scratch: nothing, if nothing was missed. */
  recomputeAll(): DryRun {
    const owners = new Set([
      ...this.#knownOwners(this.#previews.fork()),
      ...this.#memory.owners(),
      ...this.#alive,
    ])
    return this.#previews.ofKeys([...owners].filter((owner) => !this.#garbage.isHeld(owner)))
  }

  /** Stops taking keys, and waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#phase = 'closed'
    this.#holdBack[Symbol.dispose]()
    this.#subscriptions.dispose()
    this.#queue[Symbol.dispose]()
    this.#answers.close()
    await this.#round
    await this.#answers.sent()
    this.#announceQuiet()
  }

  get #isQuiet(): boolean {
    if (this.#phase === 'closed') return true
    return this.#queue.isIdle && this.#round === undefined && !this.#isScheduled && !this.#garbage.hasWork
  }

  /** Garbage is looked at when nothing else is left to do. */
  get #canCollect(): boolean {
    return this.#garbage.hasWork && this.#queue.isIdle
  }

  get #isConnected(): boolean {
    return this.#options.database.state.phase === 'connected'
  }

  /** Rounds start in a later turn of the event loop, so that whatever arrives in this one goes into the same round. */
  #schedule(): void {
    if (this.#isScheduled || this.#round !== undefined || this.#phase !== 'started' || !this.#isConnected)
      return
    if (!this.#queue.hasReady && !this.#canCollect) return
    if (this.#isHeldBack()) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#phase !== 'started') return
      this.#round = this.#runRound()
        .catch((err: unknown) => this.#options.logger.error('round failed', { err }))
        .finally(() => {
          this.#round = undefined
          this.#proceed()
        })
    })
  }

  /** Keys gather while the API server is busy; each of its answers, or the lack of any, lets the kernel look again. */
  #isHeldBack(): boolean {
    const waitMs = this.#sender.busyForMs
    this.#holdBack[Symbol.dispose]()
    if (waitMs === 0) return false
    this.#holdBack = this.#options.clock.setTimer(waitMs, () => this.#schedule())
    return true
  }

  get #batchSize(): number {
    return this.#options.batchSize ?? kernelDefaults.batchSize
  }

  /** Takes keys and brings them to their end; goes on to the next ones while the server is at work, as long as there are many. */
  async #runRound(): Promise<void> {
    const owners = this.#queue.take(this.#batchSize)
    if (owners.length === 0) {
      if (this.#canCollect) await this.#garbage.collect()
      return
    }
    let flight = await this.#launch(owners)
    while (flight !== undefined) {
      const beside = this.#launchBeside()
      await this.#land(flight)
      flight = Array.isArray(beside) ? await this.#launch(beside) : beside
    }
  }

  #proceed(): void {
    this.#schedule()
    this.#announceQuiet()
  }

  #announceQuiet(): void {
    if (!this.#isQuiet) return
    const waiters = this.#quietWaiters
    this.#quietWaiters = []
    for (const resolve of waiters) resolve()
  }

  /** Brings keys that were taken to their end: each is settled, held or failed when this resolves, but for patches. */
  async #reconcile(owners: readonly OwnerMark[]): Promise<void> {
    const flight = await this.#launch(owners)
    if (flight !== undefined) await this.#land(flight)
  }

  /** Observes keys that were taken, and sends what they lack. Those that lack nothing, or wait, are at their end. */
  async #launch(owners: readonly OwnerMark[]): Promise<Flight<W> | undefined> {
    const startedMs = this.#options.clock.monotonic()
    const jobs = owners.flatMap((owner) => this.#observe(owner, startedMs))
    // No await between observing and sending: what was observed cannot have changed.
    let plan: Plan
    try {
      plan = this.#planJobs(jobs)
    } catch (error) {
      await this.#splitUp(jobs, error, startedMs)
      return undefined
    }
    return this.#send(jobs, plan, startedMs)
  }

  /**
   * Takes a whole batch, if there is one, and sends it without waiting for what is under way.
   *
   * Answers its keys when that would make a difference: they are to be launched when what is under way has landed.
   */
  #launchBeside(): Flight<W> | OwnerMark[] | undefined {
    if (this.#queue.ready < this.#batchSize || this.#phase !== 'started') return undefined
    if (this.#sender.busyForMs > 0) return undefined
    if (![...this.#flights].every(({ plan }) => areAdditions(plan.steps, this.#catalog))) return undefined
    const startedMs = this.#options.clock.monotonic()
    const owners = this.#queue.take(this.#batchSize)
    const jobs = owners.flatMap((owner) => this.#observe(owner, startedMs))
    const taken = jobs.map(({ owner }) => owner)
    try {
      const plan = this.#planJobs(jobs)
      const known = { catalog: this.#catalog, memory: this.#memory }
      return isIndependent(plan, jobs, this.#flights, known) ? this.#send(jobs, plan, startedMs) : taken
    } catch {
      // Planned again, alone, it fails again, and then somebody is told.
      return taken
    }
  }

  #send(jobs: readonly Job<W>[], plan: Plan, startedMs: number): Flight<W> | undefined {
    const touched: Job<W>[] = []
    for (const job of jobs) {
      if (job.desired.hold === true) {
        this.#settle(job, startedMs)
        continue
      }
      const problem = plan.problems.get(job.owner)
      const missing = plan.held.get(job.owner)
      if (problem !== undefined) this.#fail(job.owner, problem, startedMs)
      else if (missing !== undefined) this.#hold(job, missing, startedMs)
      else if (plan.touched.has(job.owner)) touched.push(job)
      else this.#settle(job, startedMs)
    }
    if (touched.length === 0) return undefined
    for (const job of touched) {
      this.#inFlight.add(job.owner)
      if (this.#drifted.get(job.owner) === 'suspected') this.#foundDrift(job)
    }
    const commit = commitPlan(plan, this.#commitOptions)
    // Whoever lands it hears of its failure; until then nobody listens.
    commit.catch(() => undefined)
    const flight: Flight<W> = { plan, jobs: touched, startedMs, commit, seen: [] }
    this.#flights.add(flight)
    return flight
  }

  /** Waits for a transaction, and brings its keys to their end. */
  async #land(flight: Flight<W>): Promise<void> {
    const { plan, jobs, startedMs } = flight
    let ids: ReadonlyMap<string, Uuid>
    try {
      const commit = await flight.commit
      ids = commit.ids
      logCommit(this.#options.logger, plan, commit.ms)
    } catch (error) {
      this.#end(flight)
      if (isFaultOfContent(error)) await this.#splitUp(jobs, error, startedMs)
      else {
        for (const job of jobs) {
          this.#fail(job.owner, error, startedMs, job)
          this.#unserved.add(job.owner)
        }
      }
      return
    }
    let rest: Pick<Plan, 'touched' | 'held' | 'outcomes'>
    try {
      rest = this.#hasJustLanded(flight, ids) ? nothingLeft : this.#planJobs(jobs)
    } catch (error) {
      for (const job of jobs) this.#fail(job.owner, error, startedMs, job)
      return
    } finally {
      this.#end(flight)
    }
    for (const job of jobs) {
      if (!rest.touched.has(job.owner) && !rest.held.has(job.owner)) {
        if (this.#drifted.has(job.owner)) this.#healed(job)
        this.#settle(job, startedMs)
        continue
      }
      const differences = rest.outcomes.filter((one) => one.owner === job.owner)
      const lines = differences.map(({ id, outcome, columns }) => [id, outcome, ...(columns ?? [])].join(' '))
      this.#fail(job.owner, new NotSettledError(job.owner, lines), startedMs)
    }
  }

  #hasJustLanded({ plan, seen }: Flight<W>, ids: ReadonlyMap<string, Uuid>): boolean {
    if (!haveJustLanded(plan.steps, ids, seen.flat(), this.#catalog)) return false
    // The others saw nothing but this.
    for (const other of this.#flights) other.seen = []
    return true
  }

  #end(flight: Flight<W>): void {
    this.#flights.delete(flight)
    for (const { owner } of flight.jobs) this.#inFlight.delete(owner)
  }

  /** A fault of the content is some key's: the keys are halved until it is alone, and the others succeed. */
  async #splitUp(jobs: readonly Job<W>[], error: unknown, startedMs: number): Promise<void> {
    if (jobs.length === 1) {
      for (const job of jobs) this.#fail(job.owner, error, startedMs, job)
      return
    }
    const owners = jobs.map((job) => job.owner)
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
      const job = this.#possible(observeKey(owner, found.feature, found.key, this.#options.world))
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

  /** The job without what the server cannot keep. */
  #possible(job: Job<W>): Job<W> {
    const desired = this.#missing.without(job.desired)
    return desired === job.desired ? job : { ...job, desired }
  }

  #planJobs(jobs: readonly Job<W>[]): Plan {
    const planned = jobs.filter((job) => job.desired.hold !== true)
    const batch = new Batch(planned.map((job) => [job.owner, job.desired]))
    return planRows({
      wants: planned.map((job) => wantOf(job, this.#memory, batch)),
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

  #hold(job: Job<W>, refs: readonly RowRef[], startedMs: number): void {
    const { owner, feature, key } = job
    this.#unserved.delete(owner)
    this.#remember(job, false)
    this.#garbage.markFailing(owner)
    const missing = refs.map(idMark)
    this.#options.logger.debug('key held until rows appear', { feature: feature.name, key, missing })
    this.#answers.held(job, startedMs)
  }

  #foundDrift({ owner, feature }: Job<W>): void {
    this.#drifted.set(owner, 'found')
    this.#options.metrics.driftFound(feature.name)
  }

  #healed({ owner, feature, key }: Job<W>): void {
    this.#options.metrics.driftHealed(feature.name)
    if (this.#driftLimit.healed(owner)) {
      this.#options.logger.warn('rows fought over', { feature: feature.name, key })
    }
  }

  #settle(job: Job<W>, startedMs: number): void {
    const { owner, desired } = job
    this.#unserved.delete(owner)
    if (desired.hold === true) {
      // What it has stays, and what it would adopt must not be collected.
      this.#garbage.markFailing(owner)
    } else {
      this.#remember(job, true)
      this.#garbage.markSettled(owner)
    }
    this.#drifted.delete(owner)
    this.#answers.settled(job, startedMs)
  }

  /** It is not known, or not so, that the key's rows are what it wants. */
  #fail(owner: OwnerMark, error: unknown, startedMs: number, job?: Job<W>): void {
    if (job !== undefined) this.#remember(job, false)
    if (isFaultOfContent(error)) this.#unserved.delete(owner)
    this.#garbage.markFailing(owner)
    this.#answers.failed(owner, error, startedMs)
  }

  #sweepLater(): void {
    if (this.#phase === 'closed') return
    const { clock, random = Math.random, backoff = kernelDefaults.backoff } = this.#options
    const timer = clock.setTimer(backoffDelayMs(backoff, this.#sweepAttempts++, random), () => {
      this.#garbage.lookAgain()
      this.#schedule()
    })
    this.#subscriptions.use(timer)
  }

  /** What a server lacks is told once. What another one has after all is made up for. */
  #followSchema({ phase, missing = [] }: DatabaseState): void {
    if (phase !== 'connected') return
    const before = this.#missing.names
    this.#missing = new MissingColumns(missing, this.#catalog)
    const { names } = this.#missing
    if (names.join() === before.join()) return
    if (names.length > 0) this.#options.logger.warn('columns missing in the database', { missing: names })
    for (const owner of this.#knownOwners(this.#options.world)) this.#queue.add(owner, 'initial')
  }

  #onRows(changes: readonly RowChange[]): void {
    for (const flight of this.#flights) flight.seen.push(changes)
    const lookup = { rows: this.#options.database.cache, catalog: this.#catalog }
    const { drifted, unblocked, hasStrays } = followChanges(changes, {
      ...lookup,
      adoption: this.#adoption,
      memory: this.#memory,
    })
    if (this.#strays.follow(changes) || hasStrays) this.#garbage.lookAgain()
    for (const owner of drifted) {
      // The second plan after a commit looks at these.
      if (this.#inFlight.has(owner) || findFeature(owner, this.#features) === undefined) continue
      if (!this.#drifted.has(owner)) this.#drifted.set(owner, 'suspected')
      const pauseMs = this.#driftLimit.pauseMs(owner)
      if (pauseMs > 0) this.#queue.addAfter(owner, pauseMs)
      else this.#queue.add(owner, 'live')
    }
    for (const owner of unblocked) if (!this.#inFlight.has(owner)) this.#queue.add(owner, 'live')
    for (const change of changes) {
      for (const owner of this.#triggers.ofRow(change, this.#options.world)) this.#queue.add(owner, 'live')
    }
    this.#schedule()
  }

  #knownOwners(world: W): ReadonlySet<OwnerMark> {
    const { objects, database } = this.#options
    const owners = new Set(this.#triggers.all(objects, database.cache, world))
    for (const owner of ownersIn(database.cache, this.#catalog)) {
      if (findFeature(owner, this.#features) !== undefined) owners.add(owner)
    }
    return owners
  }

  get #commitOptions(): CommitOptions {
    const { database, schema, lock, clock, metrics } = this.#options
    return { database, schema, lock, clock, metrics }
  }
}

/** What a plan has to say of keys that have all they want. */
const nothingLeft: Pick<Plan, 'touched' | 'held' | 'outcomes'> = {
  touched: new Set(),
  held: new Map(),
  outcomes: [],
}

function isNothing({ rows, hold }: Desired): boolean {
  return rows.length === 0 && hold !== true
}
