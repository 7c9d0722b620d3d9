import { backoffDelayMs } from '@kube-ovn/time'
import type { RowChange } from 'ovsdb-client'
import type { ObjectChange, Resource } from '@kube-ovn/kube'
import type { Causes, Watch } from '@kube-ovn/tables'
import { Adoption } from './adoption.ts'
import { Answers } from './answers.ts'
import { catalogOf, type Catalog } from './catalog.ts'
import type { PlannedChange } from './change-plan.ts'
import type { DatabaseState } from './database.ts'
import { commitPlan, type CommitOptions } from './commit.ts'
import { sliceMs, underived, type DerivedTables } from './derived-tables.ts'
import { followChanges } from './drift.ts'
import type { DryRun } from './dry-run.ts'
import { EventLog } from './events.ts'
import { Facts } from './facts.ts'
import type { Desired, Feature, Key } from './feature.ts'
import { Garbage } from './garbage.ts'
import { findFeature, observeKey, type Job } from './jobs.ts'
import { kernelDefaults, type KernelOptions } from './kernel-options.ts'
import { Living } from './living.ts'
import { featureOf, ownerMark, type OwnerMark } from './marks.ts'
import { Memory } from './memory.ts'
import { ownersIn, rowsOwnedBy } from './orphans.ts'
import { PatchSender } from './patches.ts'
import { isSameObject } from './source-tables.ts'
import { StrayMembers } from './stray-members.ts'
import { Planner } from './planner.ts'
import { Previews } from './previews.ts'
import { ProblemLog } from './problems.ts'
import { queueGauges, queueObserver } from './queue-metrics.ts'
import { WorkQueue } from './queue.ts'
import { Rounds } from './rounds.ts'
import { RowIds } from './row-ids.ts'
import type { Rows } from './rows.ts'
import { takenNameEvents } from './taken-names.ts'
import { Triggers } from './triggers.ts'
import { Unheard } from './unheard.ts'
import { findableRows } from './unmarked.ts'
import { Verdicts } from './verdicts.ts'

/**
 * Makes the database and the API server what the features want, and keeps them so.
 *
 * Construct it when caches and stores are complete: what they lack counts as gone. Nothing happens before `start()`.
 */
export class Kernel<W> implements AsyncDisposable {
  readonly #options: KernelOptions<W>
  readonly #features: ReadonlyMap<string, Feature<Key, unknown, W>>
  readonly #catalog: Catalog
  readonly #rows: Rows
  readonly #planner: Planner<W>
  readonly #adoption: Adoption
  readonly #memory = new Memory()
  readonly #commitOptions: CommitOptions
  readonly #unheard: Unheard
  readonly #triggers: Triggers<W>
  readonly #derived: DerivedTables
  readonly #facts: Facts
  /** For each feature, what its keys read of derived tables. */
  readonly #watches: ReadonlyMap<string, Watch>
  readonly #queue: WorkQueue<OwnerMark>
  readonly #sender: PatchSender
  readonly #previews: Previews<W>
  readonly #answers: Answers<W>
  readonly #strays: StrayMembers
  readonly #garbage: Garbage
  readonly #verdicts: Verdicts<W>
  readonly #rounds: Rounds<W>
  #sweepTimer: Disposable | undefined
  readonly #subscriptions = new DisposableStack()
  readonly #living: Living
  #quietWaiters: (() => void)[] = []
  #phase: 'new' | 'started' | 'closed' = 'new'
  /** How often keys were taken. */
  #taken = 0
  #isScheduled = false
  #isSettling = false
  #gathering: Disposable = { [Symbol.dispose]: () => undefined }
  #round: Promise<void> | undefined

  /** Throws when the features contradict each other or the schema. */
  constructor(options: KernelOptions<W>) {
    this.#options = options
    const { features, database, schema, clock, logger, metrics, objects } = options
    this.#features = new Map(features.map((feature) => [feature.name, feature]))
    this.#catalog = catalogOf(schema, features)
    this.#rows = findableRows(database.cache, this.#catalog)
    const rowIds = new RowIds(this.#rows)
    this.#commitOptions = { database, schema, clock, metrics, rowIds, lock: options.lock }
    this.#adoption = new Adoption(this.#catalog, this.#rows)
    const lookup = { rows: this.#rows, catalog: this.#catalog, memory: this.#memory }
    this.#unheard = new Unheard({
      onHeard: () => this.#garbage.lookAgain(),
      wake: (owner) => this.#queue.add(owner, 'live'),
    })
    this.#planner = new Planner({ ...lookup, adoption: this.#adoption, features, unheard: this.#unheard })
    this.#triggers = new Triggers(features, logger)
    this.#derived = options.derived ?? underived(database.cache, logger, () => clock.monotonic())
    this.#facts = new Facts(this.#derived.put)
    this.#watches = new Map(
      features.map(({ name }) => [name, this.#derived.watch((causes) => this.#onDerived(name, causes))]),
    )
    this.#living = new Living({ watches: this.#watches, known: () => this.#knownOwners(options.world) })
    const concurrency = options.patchConcurrency ?? kernelDefaults.patchConcurrency
    this.#sender = new PatchSender({ objects, metrics, clock, concurrency })
    this.#previews = new Previews({
      ...options,
      features: this.#features,
      triggers: this.#triggers,
      derived: this.#derived,
      watches: this.#watches,
      facts: this.#facts,
      sender: this.#sender,
      plan: (jobs) => this.#planner.plan(jobs.map((job) => this.#planner.possible(job))),
    })
    this.#queue = new WorkQueue({
      clock,
      paceMs: (owner) => this.#features.get(featureOf(owner))?.paceMs ?? 0,
      laneOf: (owner) => {
        const feature = this.#features.get(featureOf(owner))
        const apartMs = feature?.apartMs?.(options.world)
        return feature === undefined || apartMs === undefined ? undefined : { name: feature.name, apartMs }
      },
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
      eventsOf: (owner, error) => takenNameEvents(owner, error, { features: this.#features, objects }),
      onGone: (owner) => this.#living.goes(owner),
      onSent: () => this.#proceed(),
    })
    this.#strays = new StrayMembers({ ...lookup, features, adoptable: this.#adoption })
    this.#garbage = new Garbage({
      ...lookup,
      adoption: this.#adoption,
      strays: this.#strays,
      isHeard: (feature, key) => this.#unheard.isHeard(feature, key),
      logger,
      metrics,
      release: (owner) => this.#queue.add(owner, 'initial'),
      features: this.#features,
      commit: (plan) => commitPlan(plan, this.#commitOptions),
      retry: (attempt) => this.#sweepLater(attempt),
      ...(options.onOrphansHeld === undefined ? {} : { onHeld: (held) => options.onOrphansHeld?.(held) }),
    })
    const known = { planner: this.#planner, clock, logger }
    this.#verdicts = new Verdicts({
      ...known,
      garbage: this.#garbage,
      answers: this.#answers,
      metrics,
      reconsider: (owner) => this.#queue.add(owner, 'live'),
    })
    this.#rounds = new Rounds({
      ...known,
      ...lookup,
      verdicts: this.#verdicts,
      ready: () => this.#derived.settled(),
      observe: (owner, startedMs) => this.#observe(owner, startedMs),
      commit: (plan) => commitPlan(plan, this.#commitOptions),
      writes: (owner) => this.#queue.wrote(owner),
      hasBatch: () => this.#hasBatch,
      take: () => this.#take(),
    })
  }

  /** Begins to follow changes, and queues every key that anything which exists now concerns. */
  start(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'started'
    const { database, objects, signals } = this.#options
    this.#derived.onChange = () => this.#settleSoon()
    this.#derived.start()
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
    this.#subscriptions.use(objects.onChange((resource, change) => this.#onObject(resource, change)))
    if (signals !== undefined) {
      this.#subscriptions.use(signals.onRaise((signal, subject) => this.raise(signal, subject)))
    }
    this.takeAll()
    for (const owner of this.#queue.waiting()) this.#unheard.add(owner)
    this.#schedule()
  }

  raise(signal: string, subject: string): void {
    const owners = this.#triggers.ofSignal(signal, subject, this.#options.world)
    this.#wake(owners, 'live', () => `${signal}[${subject}]`)
  }

  /** Queues one key, whatever triggers say. */
  enqueue(feature: string, key: Key): void {
    this.#queue.add(ownerMark(feature, key), 'live')
  }

  /** Queues every key that anything which exists now concerns, as at the start: the database is another one. */
  takeAll(): void {
    if (this.#phase !== 'started') return
    for (const owner of this.#knownOwners(this.#options.world)) this.#queue.add(owner, 'initial')
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
    return Math.max(this.#queue.oldestMs, this.#verdicts.oldestUnservedMs)
  }

  /** Lets the deletion of this token go ahead, if it is the one that is held back, or as soon as it is. */
  confirmOrphans(token: string): void {
    this.#garbage.confirm(token)
    this.#schedule()
  }

  /** What would change if these keys were reconciled now. Nothing is changed by it. */
  plan(keys: Iterable<{ readonly feature: string; readonly key: Key }>): DryRun {
    this.#derived.settle()
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
    this.#derived.settle()
    const owners = new Set([
      ...this.#knownOwners(this.#previews.fork()),
      ...this.#memory.owners(),
      ...this.#living,
    ])
    return this.#previews.ofKeys([...owners].filter((owner) => !this.#garbage.isHeld(owner)))
  }

  /** Writes nothing more to objects but what is under way, since another process may do so by now. To be disposed of. */
  yield(): void {
    this.#answers.close()
    this.#sender.close()
  }

  /** Stops taking keys, and waits for what was decided. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#phase = 'closed'
    this.#derived.onChange = () => undefined
    this.#gathering[Symbol.dispose]()
    this.#sweepTimer?.[Symbol.dispose]()
    this.#subscriptions.dispose()
    this.#queue[Symbol.dispose]()
    this.#answers.close()
    await this.#round
    await this.#answers.sent()
    this.#announceQuiet()
  }

  get #isQuiet(): boolean {
    if (this.#phase === 'closed') return true
    if (this.#isSettling || !this.#derived.isSettled) return false
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
    if (this.#isGathering()) return
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

  /** Tables are derived in later turns of the event loop as well, whether or not the database can be reached. */
  #settleSoon(): void {
    if (this.#isSettling || this.#phase !== 'started') return
    this.#isSettling = true
    setImmediate(() => {
      this.#isSettling = false
      if (this.#phase !== 'started') return
      if (this.#derived.settle(sliceMs)) this.#proceed()
      else this.#settleSoon()
    })
  }

  /** Keys gather while the API server is busy; each of its answers, or the lack of any, lets the kernel look again. */
  #isGathering(): boolean {
    const waitMs = this.#sender.busyForMs(this.#queue.ready >= this.#batchSize)
    this.#gathering[Symbol.dispose]()
    if (waitMs === 0) return false
    this.#gathering = this.#options.clock.setTimer(waitMs, () => this.#schedule())
    return true
  }

  get #batchSize(): number {
    return this.#options.batchSize ?? kernelDefaults.batchSize
  }

  /** With fewer keys it is better to wait for more than to send a second transaction beside the first. */
  get #hasBatch(): boolean {
    if (this.#queue.ready < this.#batchSize || this.#phase !== 'started') return false
    if (!this.#derived.settle(sliceMs)) return false
    return this.#sender.busyForMs(true) === 0
  }

  async #runRound(): Promise<void> {
    await this.#derived.settled()
    const owners = this.#take()
    this.#sender.startRound()
    if (owners.length === 0) {
      if (this.#canCollect) await this.#garbage.collect()
      return
    }
    await this.#rounds.run(owners)
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

  #observe(owner: OwnerMark, startedMs: number): readonly Job<W>[] {
    const found = findFeature(owner, this.#features)
    if (found === undefined) {
      this.#unheard.hear(owner)
      this.#queue.done(owner)
      return []
    }
    try {
      const read = this.#read
      const job = this.#planner.possible(
        observeKey(owner, found.feature, found.key, { ...this.#options, read }),
      )
      this.#facts.say(owner, job.desired.facts ?? [])
      if (!job.isGone) this.#living.comes(owner)
      else if (isNothing(job.desired) && !this.#living.has(owner) && !this.#garbage.isReleased(owner)) {
        if (rowsOwnedBy(owner, this.#rows, this.#catalog).length > 0) {
          this.#garbage.addOrphan(owner)
          this.#unheard.hear(owner)
          this.#queue.done(owner)
          return []
        }
      }
      return [job]
    } catch (error) {
      this.#verdicts.failed(owner, error, startedMs)
      return []
    }
  }

  readonly #read = <R>(feature: string, key: Key, observe: () => R): R => {
    const watch = this.#watches.get(feature)
    return watch === undefined ? observe() : watch.read(key, {}, observe)
  }

  #sweepLater(attempt: number): void {
    if (this.#phase === 'closed') return
    const { clock, random = Math.random, backoff = kernelDefaults.backoff } = this.#options
    this.#sweepTimer?.[Symbol.dispose]()
    this.#sweepTimer = clock.setTimer(backoffDelayMs(backoff, attempt, random), () => {
      this.#garbage.lookAgain()
      this.#schedule()
    })
  }

  /** What a server lacks is told once. What another one has after all is made up for. */
  #followSchema({ phase, missing = [] }: DatabaseState): void {
    if (phase !== 'connected') return
    if (!this.#planner.setMissing(missing)) return
    if (missing.length > 0) {
      this.#options.logger.warn('columns missing in the database', { missing: this.#planner.missing })
    }
    this.takeAll()
  }

  #onRows(changes: readonly RowChange[]): void {
    this.#rounds.follow(changes)
    this.#commitOptions.rowIds.follow(changes)
    const lookup = { rows: this.#rows, catalog: this.#catalog }
    const { drifted, unblocked, hasStrays } = followChanges(changes, {
      ...lookup,
      adoption: this.#adoption,
      memory: this.#memory,
    })
    if (this.#strays.follow(changes) || hasStrays) this.#garbage.lookAgain()
    for (const owner of drifted) {
      // The second plan after a commit looks at these.
      if (this.#rounds.isInFlight(owner) || findFeature(owner, this.#features) === undefined) continue
      const pauseMs = this.#verdicts.suspected(owner)
      if (pauseMs > 0) this.#queue.addAfter(owner, pauseMs)
      else this.#queue.add(owner, 'live')
    }
    for (const owner of unblocked) if (!this.#rounds.isInFlight(owner)) this.#queue.add(owner, 'live')
    this.#derived.rowsChanged(changes)
    for (const change of changes) {
      const owners = this.#triggers.ofRow(change, this.#options.world)
      this.#wake(owners, 'live', () => `${change.table}[${change.uuid}]`)
    }
    this.#schedule()
  }

  #onObject(resource: Resource, change: ObjectChange): void {
    const { old, new: current } = change
    // What is trimmed away may differ.
    if (old !== undefined && current !== undefined && isSameObject(old, current)) return
    this.#derived.objectChanged(resource, change)
    const owners = this.#triggers.ofObject(resource, change, this.#options.world)
    this.#wake(owners, change.initial ? 'initial' : 'live', () => `${resource.plural}[${change.key}]`)
  }

  /** What is derived between two rounds is of one mind: as far as there is room for it, it is written at once. */
  #onDerived(feature: string, causes: Causes): void {
    for (const [key, cause] of causes)
      this.#wake([ownerMark(feature, key)], 'live', () => String(cause), this.#taken)
  }

  #wake(owners: readonly OwnerMark[], band: 'live' | 'initial', cause: () => string, wake?: number): void {
    if (owners.length === 0) return
    this.#options.logger.debug('keys woken', { by: cause(), keys: owners })
    for (const owner of owners) this.#queue.add(owner, band, wake)
  }

  #take(): readonly OwnerMark[] {
    this.#taken++
    return this.#queue.take(this.#batchSize, this.#batchSize * kernelDefaults.mostBatches)
  }

  #knownOwners(world: W): ReadonlySet<OwnerMark> {
    const { objects, database } = this.#options
    const owners = new Set(this.#triggers.all(objects, database.cache, world))
    for (const owner of ownersIn(database.cache, this.#catalog)) {
      if (findFeature(owner, this.#features) !== undefined) owners.add(owner)
    }
    return owners
  }
}

function isNothing({ rows, hold }: Desired): boolean {
  return rows.length === 0 && hold !== true
}
