import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import type { RowChange } from 'ovsdb-client'
import type { Catalog } from './catalog.ts'
import { logCommit } from './commit-log.ts'
import { isFaultOfContent, type Commit } from './commit.ts'
import { NotSettledError } from './errors.ts'
import { areAdditions } from './additions.ts'
import { isIndependent, type Flight } from './flight.ts'
import { lacking, type Job } from './jobs.ts'
import { haveJustLanded } from './landed.ts'
import type { OwnerMark } from './marks.ts'
import type { Memory } from './memory.ts'
import type { Plan } from './plan.ts'
import type { Planner } from './planner.ts'
import type { Rows } from './rows.ts'
import type { Step } from './steps.ts'
import { namedHolder } from './taken-names.ts'
import type { Verdicts } from './verdicts.ts'

interface RoundsOptions<W> {
  readonly catalog: Catalog
  readonly memory: Memory
  readonly rows: Rows
  readonly planner: Planner<W>
  readonly verdicts: Verdicts<W>
  readonly clock: Clock
  readonly logger: Logger
  /** Resolves when what is derived is as objects and rows are. Until the next await it stays so. */
  readonly ready: () => Promise<void>
  /** A key that was taken, and what it wants; nothing when it is at its end already. */
  readonly observe: (owner: OwnerMark, startedMs: number) => readonly Job<W>[]
  readonly commit: (plan: Plan) => Promise<Commit>
  /** What a key lacks is about to be sent. */
  readonly writes: (owner: OwnerMark) => void
  /** Whether a whole batch of keys waits, and nothing speaks against sending it now. */
  readonly hasBatch: () => boolean
  readonly take: () => readonly OwnerMark[]
}

/** Keys that were taken together are observed, planned and written together; here they are brought to their end. */
export class Rounds<W> {
  readonly #options: RoundsOptions<W>
  /** Keys of the transactions under way: changes of their rows are ours. */
  readonly #inFlight = new Set<OwnerMark>()
  /** Transactions under way, in the order in which they were sent. */
  readonly #flights = new Set<Flight<W>>()

  constructor(options: RoundsOptions<W>) {
    this.#options = options
  }

  isInFlight(owner: OwnerMark): boolean {
    return this.#inFlight.has(owner)
  }

  /** Must hear of every change, before transactions that caused them resolve. */
  follow(changes: readonly RowChange[]): void {
    for (const flight of this.#flights) flight.seen.push(changes)
  }

  /** Brings keys to their end; goes on to the next ones while the server is at work, as long as there are many. */
  async run(owners: readonly OwnerMark[]): Promise<void> {
    let flight = await this.#launch(owners)
    while (flight !== undefined) {
      const beside = this.#launchBeside()
      await this.#land(flight)
      flight = Array.isArray(beside) ? await this.#launch(beside) : beside
    }
  }

  /** Brings keys that were taken to their end: each is settled, waits or has failed when this resolves, but for patches. */
  async #reconcile(owners: readonly OwnerMark[]): Promise<void> {
    const flight = await this.#launch(owners)
    if (flight !== undefined) await this.#land(flight)
  }

  /** Observes keys that were taken, and sends what they lack. Those that lack nothing, or wait, are at their end. */
  async #launch(owners: readonly OwnerMark[]): Promise<Flight<W> | undefined> {
    const { clock, ready, observe, planner } = this.#options
    const startedMs = clock.monotonic()
    await ready()
    const jobs = owners.flatMap((owner) => observe(owner, startedMs))
    // No await between observing and sending: what was observed cannot have changed.
    let plan: Plan
    try {
      plan = planner.plan(jobs)
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
    const { catalog, memory, clock, planner, observe, hasBatch, take } = this.#options
    if (!hasBatch() || ![...this.#flights].every(({ plan }) => areAdditions(plan.steps, catalog)))
      return undefined
    const startedMs = clock.monotonic()
    const jobs = take().flatMap((owner) => observe(owner, startedMs))
    const taken = jobs.map(({ owner }) => owner)
    try {
      const plan = planner.plan(jobs)
      const isFree = isIndependent(plan, jobs, this.#flights, { catalog, memory })
      return isFree ? this.#send(jobs, plan, startedMs) : taken
    } catch {
      // Planned again, alone, it fails again, and then somebody is told.
      return taken
    }
  }

  #send(jobs: readonly Job<W>[], plan: Plan, startedMs: number): Flight<W> | undefined {
    const { verdicts } = this.#options
    const touched: Job<W>[] = []
    for (const whole of jobs) {
      const job = lacking(whole, plan.lacks.get(whole.owner))
      if (job.desired.hold === true) {
        verdicts.settled(job, startedMs)
        continue
      }
      const problem = plan.problems.get(job.owner)
      const missing = plan.waiting.get(job.owner)
      if (problem !== undefined) verdicts.failed(job.owner, problem, startedMs)
      else if (missing !== undefined) verdicts.waits(job, missing, startedMs)
      else if (plan.touched.has(job.owner)) touched.push(job)
      else verdicts.settled(job, startedMs)
    }
    if (touched.length === 0) return undefined
    for (const job of touched) {
      this.#inFlight.add(job.owner)
      this.#options.writes(job.owner)
      verdicts.sent(job)
    }
    const commit = this.#options.commit(plan)
    // Whoever lands it hears of its failure; until then nobody listens.
    commit.catch(() => undefined)
    const flight: Flight<W> = { plan, jobs: touched, startedMs, commit, seen: [] }
    this.#flights.add(flight)
    return flight
  }

  /** Waits for a transaction, and brings its keys to their end. */
  async #land(flight: Flight<W>): Promise<void> {
    const { planner, verdicts, logger } = this.#options
    const { plan, jobs, startedMs } = flight
    let sent: readonly Step[]
    try {
      const commit = await flight.commit
      sent = commit.steps
      logCommit(logger, plan, commit.ms)
    } catch (error) {
      this.#end(flight)
      // Rows that others wait for may be some that this would have deleted.
      const affected = new Set([...plan.waiting.keys(), ...plan.awaited.keys()])
      for (const { owner } of jobs) affected.delete(owner)
      for (const owner of affected) verdicts.reconsider(owner)
      if (isFaultOfContent(error)) await this.#splitUp(jobs, error, startedMs)
      else for (const job of jobs) verdicts.lost(job, error, startedMs)
      return
    }
    let rest: Remainder
    try {
      rest = this.#hasJustLanded(flight, sent) ? nothingLeft : planner.plan(jobs)
    } catch (error) {
      for (const job of jobs) verdicts.failed(job.owner, error, startedMs, job)
      return
    } finally {
      this.#end(flight)
    }
    for (const job of jobs) {
      if (isDone(job.owner, rest)) verdicts.landed(job, startedMs)
      // What it wants is kept, because the others of this plan left rows to it.
      else verdicts.contested(job, notSettled(job.owner, rest), startedMs)
    }
  }

  #hasJustLanded({ seen }: Flight<W>, sent: readonly Step[]): boolean {
    if (!haveJustLanded(sent, seen.flat(), this.#options.catalog)) return false
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
      const { verdicts, rows } = this.#options
      for (const job of jobs) verdicts.failed(job.owner, namedHolder(error, job.owner, rows), startedMs, job)
      return
    }
    const owners = jobs.map((job) => job.owner)
    const middle = Math.ceil(owners.length / 2)
    await this.#reconcile(owners.slice(0, middle))
    await this.#reconcile(owners.slice(middle))
  }
}

/** What a second plan has to say. */
type Remainder = Pick<Plan, 'touched' | 'waiting' | 'outcomes'>

/** Its answer for keys that have all they want. */
const nothingLeft: Remainder = { touched: new Set(), waiting: new Map(), outcomes: [] }

function isDone(owner: OwnerMark, { touched, waiting }: Remainder): boolean {
  return !touched.has(owner) && !waiting.has(owner)
}

function notSettled(owner: OwnerMark, { outcomes }: Remainder): NotSettledError {
  const differences = outcomes.filter((one) => one.owner === owner)
  const lines = differences.map(({ id, outcome, columns }) => [id, outcome, ...(columns ?? [])].join(' '))
  return new NotSettledError(owner, lines)
}
