import { isDeepStrictEqual } from 'node:util'
import { KubeOvnError } from '@kube-ovn/errors'
import type { Logger } from '@kube-ovn/log'
import { ownerMark, parseOwnerMark, ProblemLog, type OwnerMark } from '@kube-ovn/reconcile/work'
import {
  Tables,
  watchedTable,
  type AnyTable,
  type Table,
  type TableFork,
  type ViewOf,
  type Watch,
} from '@kube-ovn/tables'
import type { FragmentMetrics } from '@kube-ovn/telemetry'
import { backoffDelayMs, type Backoff, type Clock } from '@kube-ovn/time'
import { Claims, placesOf, type Place } from './claims.ts'
import type { Answer, NodeFeature } from './feature.ts'
import { Lane } from './lane.ts'
import { Refusals } from './refusals.ts'
import type { Sink } from './sink.ts'
import { sourcesOfSinks, type NodeSource } from './sources.ts'

export interface FragmentKernelOptions {
  /** Those that stand before others win where they contradict each other. */
  readonly features: readonly NodeFeature[]
  /** Sinks of one list are asked in its order; no list waits for another. */
  readonly lanes: readonly (readonly Sink<never>[])[]
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: FragmentMetrics
  /** Yields values in [0, 1), for jitter. */
  readonly random: () => number
  /** Is told of what a feature wants and does not get, when that becomes so or has another cause. */
  onRefused?(feature: string, problem: Error): void
}

/** What would be done to a target. */
export interface SinkChanges {
  readonly sink: string
  readonly target: string
  readonly changes: readonly string[]
}

const retry: Backoff = { initialMs: 200, maxMs: 15_000, factor: 2, jitter: 0.2 }

/** How long rows are derived at a time. */
const sliceMs = 10

/** Stands in a lane for all targets that a sink has marked as ours. */
const ownedTargets = ''

/**
 * Makes a node what its features want, and keeps it so.
 *
 * Features are tables of fragments; a fragment that can not be used is told, leaves the last good one in its place, and stops no
 * other. Nothing is polled: it looks when a row has changed, when a sink says that somebody touched the node, and after a failure.
 */
export class FragmentKernel implements AsyncDisposable {
  readonly #options: FragmentKernelOptions
  readonly #places: readonly Place[]
  readonly #tables: Tables
  readonly #sources = new Map<AnyTable, NodeSource<never>>()
  readonly #watch: Watch
  readonly #claims = new Claims()
  readonly #lanes: readonly Lane[]
  readonly #sinks: ReadonlyMap<string, Sink<unknown>>
  readonly #problems: ProblemLog
  readonly #refusals: Refusals
  readonly #subscriptions = new DisposableStack()
  readonly #attempts = new Map<OwnerMark, number>()
  /** Targets of which something else was wanted since they were last as wanted; what differs in the others has drifted. */
  readonly #changed = new Set<OwnerMark>()
  /** What is wanted after a while, by its mark. */
  readonly #delays = new Map<string, Disposable>()
  /** Marks whose while is over. */
  readonly #due = new Set<string>()
  /** Sinks of which it is known what all features want, as of when all rows were derived. */
  readonly #complete = new Set<string>()
  /** What the fragments of each sink come of. */
  readonly #sourcesOfSinks: ReadonlyMap<string, ReadonlySet<AnyTable>>
  #waiters: (() => void)[] = []
  #isSettling = false
  #isClosed = false

  constructor(options: FragmentKernelOptions) {
    this.#options = options
    const { features, clock, log, metrics } = options
    this.#places = placesOf(features)
    this.#sourcesOfSinks = sourcesOfSinks(this.#places)
    this.#problems = new ProblemLog(log)
    this.#refusals = new Refusals(this.#problems, metrics, (feature, problem) =>
      options.onRefused?.(feature, problem),
    )
    this.#tables = new Tables({
      tables: this.#places.map(({ table }) => table),
      onDefect: (table, key, err) => log.error('derivation failed', { table, key, err }),
      onChange: () => this.#settleLater(),
      monotonic: () => clock.monotonic(),
    })
    this.#watch = this.#tables.watch({
      of: this.#places.map(({ table }, place) => watchedTable(table, (_row, key) => [`${place}/${key}`])),
      onConcerned: (causes) => this.#take(causes.keys()),
    })
    // A feature gives a sink fragments of its kind alone.
    const lanes = options.lanes as readonly (readonly Sink<unknown>[])[]
    this.#sinks = new Map(lanes.flat().map((sink) => [sink.kind.name, sink]))
    this.#lanes = lanes.map(
      (sinks) =>
        new Lane({
          ...{ sinks, clock, metrics },
          work: (sink, target) => this.#work(sink, target),
          onIdle: () => this.#announceQuiet(),
        }),
    )
    metrics.observe({
      concurrency: 1,
      depth: () => new Map(this.#lanes.flatMap(({ gauges }) => [...gauges.depth()])),
      working: () => new Map(this.#lanes.flatMap(({ gauges }) => [...gauges.working()])),
    })
  }

  /** The tables that features read and nobody derives: each must be attached, and complete, before the start. */
  get sources(): readonly AnyTable[] {
    return this.#tables.declarations.filter(({ origin }) => origin.kind === 'source')
  }

  attach<R, I extends string>(table: Table<R, I>, source: NodeSource<R>): void {
    this.#tables.attach(table, source)
    this.#sources.set(table, source as NodeSource<never>)
  }

  /** Takes in that a row of a source was changed. The source has the new one already. */
  changed<R, I extends string>(
    table: Table<R, I>,
    key: string,
    old: R | undefined,
    row: R | undefined,
  ): void {
    if (this.#sources.has(table)) this.#tables.changed(table, key, old, row)
  }

  /** Ends with the kernel: subscriptions of whoever tells what has changed. */
  use(resource: Disposable): void {
    this.#subscriptions.use(resource)
  }

  /** Tells what a derived row is whenever it is another one. To be asked for before the start. */
  follow<R, I extends string>(table: Table<R, I>, key: string, listener: (row: R | undefined) => void): void {
    const view = this.#tables.view<Table<R>>(table)
    this.#tables.watch({
      of: [watchedTable(table, (_row, one) => (one === key ? [key] : []))],
      onConcerned: () => listener(view.get(key)),
    })
  }

  /** Tells of each derived row of a table, and whenever it is another one. To be asked for before the start. */
  followAll<R, I extends string>(
    table: Table<R, I>,
    listener: (key: string, row: R | undefined) => void,
  ): void {
    const view = this.#tables.view<Table<R>>(table)
    this.#tables.watch({
      of: [watchedTable(table, (_row, key) => [key])],
      onConcerned: (causes) => {
        for (const key of causes.keys()) listener(key, view.get(key))
      },
    })
  }

  start(): void {
    for (const sink of this.#sinks.values())
      this.#subscriptions.use(sink.watch((target) => this.#touched(sink, target)))
    this.#tables.start()
    this.#settleLater()
  }

  /** Resolves when nothing is to be derived or written, apart from retries. */
  quiet(): Promise<void> {
    if (this.#isQuiet) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  /** Rows as they are. */
  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#tables.view(table)
  }

  /**
   * What would be written if these changes were made to sources, or now, without any. Nothing is changed by it.
   *
   * The tables must be settled.
   */
  async dryRun(change: (fork: TableFork) => void = () => undefined): Promise<readonly SinkChanges[]> {
    const fork = this.#tables.fork()
    const watch = fork.watch(this.#watch)
    change(fork)
    fork.settle()
    const claims = new Claims(this.#claims)
    const nowMs = this.#options.clock.monotonic()
    for (const { place, key } of this.#parsed(watch.concerned))
      claims.take(place, key, answerOf(fork.view(place.table), key), nowMs)
    return this.#plan(claims)
  }

  /**
   * What would be derived otherwise, or written, if everything were looked at from the beginning: nothing, if nothing was missed.
   */
  async recomputeAll(): Promise<readonly SinkChanges[]> {
    const tables = new Tables({
      tables: this.#places.map(({ table }) => table),
      onDefect: (table, key, error) => {
        throw new Error(`derivation of ${table} failed for ${key}`, { cause: error })
      },
    })
    for (const [table, source] of this.#sources) tables.attach(table, source)
    tables.start()
    tables.settle()
    const derived: SinkChanges[] = []
    for (const { sink, table } of this.#places) {
      const [now, afresh] = [this.#tables.view(table), tables.view(table)].map((view) => view.scan())
      if (!isDeepStrictEqual(now, afresh))
        derived.push({ sink: sink.name, target: table.name, changes: ['rows are not what they would be'] })
    }
    return [...derived, ...(await this.#plan(this.#claims))]
  }

  /** Stops looking, and waits for what is under way. What was made stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#subscriptions.dispose()
    for (const delay of this.#delays.values()) delay[Symbol.dispose]()
    await Promise.all(this.#lanes.map((lane) => lane[Symbol.asyncDispose]()))
    this.#announceQuiet()
  }

  get #isQuiet(): boolean {
    return this.#isClosed || (!this.#isSettling && this.#lanes.every(({ isIdle }) => isIdle))
  }

  #announceQuiet(): void {
    if (!this.#isQuiet) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }

  /** In a later turn, so that what comes in this one is derived once. */
  #settleLater(): void {
    if (this.#isSettling || this.#isClosed) return
    this.#isSettling = true
    queueMicrotask(() => this.#settle())
  }

  #settle(): void {
    if (this.#isClosed) return
    if (!this.#tables.settle(sliceMs)) {
      setImmediate(() => this.#settle())
      return
    }
    this.#isSettling = false
    const due = [...this.#due]
    this.#due.clear()
    this.#take(due)
    this.#judgeCompleteness()
    this.#announceQuiet()
  }

  #take(concerned: Iterable<string>): void {
    const { clock, log } = this.#options
    for (const { mark, place, key } of this.#parsed(concerned)) {
      const answer = answerOf(this.#tables.view(place.table), key)
      const taken = this.#claims.take(place, key, answer, clock.monotonic())
      this.#delay(mark, taken.dueMs)
      if (answer !== undefined && 'wait' in answer)
        log.debug('feature waits', { feature: place.feature, key, reason: answer.wait })
      else this.#refusals.judge(place.sink.name, taken.owner, taken.problem)
      for (const target of taken.targets) this.#changedTarget(place.sink.name, target)
    }
  }

  /** Takes an answer again after a while; the tables may be behind by then, so that comes after them. */
  #delay(mark: string, dueMs: number | undefined): void {
    this.#delays.get(mark)?.[Symbol.dispose]()
    this.#delays.delete(mark)
    if (dueMs === undefined) return
    const delay = this.#options.clock.setTimer(dueMs, () => {
      this.#delays.delete(mark)
      this.#due.add(mark)
      this.#settleLater()
    })
    this.#delays.set(mark, delay)
  }

  /** Once it is known what all features want of a sink, what was left may go, and what an earlier agent left of ours. */
  #judgeCompleteness(): void {
    for (const [name, sink] of this.#sinks) {
      if (!this.#isComplete(name, this.#claims)) {
        this.#complete.delete(name)
      } else if (!this.#complete.has(name)) {
        this.#complete.add(name)
        for (const target of this.#claims.targetsOf(name)) this.#changedTarget(name, target)
        this.#clearAwayLater(sink)
      }
    }
  }

  #isComplete(sink: string, claims: Claims): boolean {
    const sources = [...(this.#sourcesOfSinks.get(sink) ?? [])]
    return sources.every((one) => this.#sources.get(one)?.isKnown?.() ?? true) && claims.isComplete(sink)
  }

  #clearAwayLater(sink: Sink<unknown>): void {
    if ('owned' in sink) this.#queue(sink.kind.name, ownedTargets)
  }

  /** What is made of it now is no drift. */
  #changedTarget(sink: string, target: string): void {
    this.#changed.add(ownerMark(sink, target))
    this.#queue(sink, target)
  }

  #queue(sink: string, target: string): void {
    this.#lanes.find((lane) => lane.has(sink))?.add(sink, target)
  }

  #touched(sink: Sink<unknown>, target: string | undefined): void {
    const { kind } = sink
    const targets = this.#claims.targetsOf(kind.name)
    if (target === undefined) {
      for (const one of targets) this.#queue(kind.name, one)
      if (this.#complete.has(kind.name)) this.#clearAwayLater(sink)
    } else if (targets.includes(target)) this.#queue(kind.name, target)
  }

  async #work(sink: Sink<unknown>, target: string): Promise<void> {
    if (this.#isClosed) return
    const { clock, metrics, log } = this.#options
    const { name } = sink.kind
    const mark = ownerMark(name, target)
    const startedMs = clock.monotonic()
    // Rows may be told of that nothing was derived from yet.
    const isComplete = this.#complete.has(name) && this.#claims.isComplete(name, target)
    const wanted = { claims: this.#claims.of(name, target), isComplete }
    const hasChanged = this.#changed.delete(mark)
    try {
      if (target === ownedTargets) {
        await this.#clearAway(sink)
        this.#attempts.delete(mark)
        this.#problems.clear(mark)
        return
      }
      const plan = await sink.plan(target, wanted)
      if (plan.changes.length > 0) {
        if (!hasChanged) metrics.driftFound(name)
        await plan.carryOut()
        metrics.written(name, plan.changes.length)
        log.info('node was written', { sink: name, target, changes: plan.changes })
        if (!hasChanged) this.#healed(name, mark)
      }
      for (const { owner } of wanted.claims)
        this.#refusals.judge(name, owner, plan.refused?.get(owner), target)
      if (hasChanged && plan.isWaiting === true) this.#changed.add(mark)
      this.#attempts.delete(mark)
      this.#problems.clear(mark)
      metrics.reconciled(name, 'success', clock.monotonic() - startedMs)
      const again = [...(plan.refused?.values() ?? [])].some((error) => error.retry === 'backoff')
      if (again) this.#retry(mark, name, target)
    } catch (error) {
      if (this.#isClosed) return
      if (hasChanged) this.#changed.add(mark)
      metrics.reconciled(name, 'error', clock.monotonic() - startedMs)
      const attempt = this.#attempts.get(mark) ?? 0
      const mayPass = !(error instanceof KubeOvnError) || error.retry === 'backoff'
      const retryMs = mayPass ? { retryMs: this.#retry(mark, name, target) } : {}
      this.#problems.report(mark, error, { attempt: attempt + 1, ...retryMs })
    }
  }

  /** Looks at what bears our mark and nobody wants. */
  async #clearAway(sink: Sink<unknown>): Promise<void> {
    for (const target of await this.#leftOver(sink, this.#claims)) this.#changedTarget(sink.kind.name, target)
  }

  async #leftOver(sink: Sink<unknown>, claims: Claims): Promise<readonly string[]> {
    const owned = (await sink.owned?.()) ?? []
    const wanted = new Set(claims.targetsOf(sink.kind.name))
    return owned.filter((target) => !wanted.has(target))
  }

  #retry(mark: OwnerMark, sink: string, target: string): number {
    const attempt = this.#attempts.get(mark) ?? 0
    this.#attempts.set(mark, attempt + 1)
    const retryMs = backoffDelayMs(retry, attempt, this.#options.random)
    this.#options.metrics.retried(sink)
    this.#lanes.find((lane) => lane.has(sink))?.addAfter(sink, target, retryMs)
    return Math.round(retryMs)
  }

  #healed(sink: string, mark: OwnerMark): void {
    this.#options.metrics.driftHealed(sink)
    if (this.#lanes.find((lane) => lane.has(sink))?.drift.healed(mark) === true)
      this.#options.log.warn('somebody else keeps changing a target', { ...parseOwnerMark(mark) })
  }

  async #plan(claims: Claims): Promise<readonly SinkChanges[]> {
    const found: SinkChanges[] = []
    for (const [name, sink] of this.#sinks) {
      const isComplete = this.#isComplete(name, claims)
      const targets = new Set([
        ...this.#claims.targetsOf(name),
        ...claims.targetsOf(name),
        ...(await this.#leftOver(sink, claims)),
      ])
      for (const target of targets) {
        const { changes } = await sink.plan(target, {
          claims: claims.of(name, target),
          isComplete: isComplete && claims.isComplete(name, target),
        })
        if (changes.length > 0) found.push({ sink: name, target, changes })
      }
    }
    return found
  }

  *#parsed(
    concerned: Iterable<string>,
  ): Iterable<{ readonly mark: string; readonly place: Place; readonly key: string }> {
    for (const mark of concerned) {
      const slash = mark.indexOf('/')
      const place = this.#places[Number(mark.slice(0, slash))]
      if (place !== undefined) yield { mark, place, key: mark.slice(slash + 1) }
    }
  }
}

/** A contribution is made of a table of answers. */
function answerOf(view: { get(key: string): unknown }, key: string): Answer<unknown> | undefined {
  return view.get(key) as Answer<unknown> | undefined
}
