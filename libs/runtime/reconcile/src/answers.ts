import type { KernelMetrics } from '@kube-ovn/telemetry'
import { backoffDelayMs, type Backoff, type Clock } from '@kube-ovn/time'
import type { EventLog } from './events.ts'
import type { KubeEvent } from './feature.ts'
import type { Job } from './jobs.ts'
import { featureOf, type OwnerMark } from './marks.ts'
import type { PatchSender } from './patches.ts'
import { retryOf, type ProblemLog } from './problems.ts'
import type { WorkQueue } from './queue.ts'

interface AnswersOptions {
  readonly queue: WorkQueue<OwnerMark>
  readonly sender: PatchSender
  readonly events: EventLog
  readonly problems: ProblemLog
  readonly metrics: KernelMetrics
  readonly clock: Clock
  readonly backoff: Backoff
  readonly random: () => number
  /** What is told of a key that failed. */
  readonly eventsOf: (owner: OwnerMark, error: unknown) => readonly KubeEvent[]
  /** A gone key has nothing left. */
  readonly onGone: (owner: OwnerMark) => void
  /** Patches came to their end, and the keys with them. */
  readonly onSent: () => void
}

/** The end of a key's round, as of any moment after its rows are decided: patches, events, retry, recheck. */
export class Answers<W> {
  readonly #options: AnswersOptions
  readonly #attempts = new Map<OwnerMark, number>()
  readonly #sending = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /** The rows are as wanted: events and patches may go out. The next round does not wait for them. */
  settled(job: Job<W>, startedMs: number): void {
    const { owner, desired } = job
    this.#options.events.send(owner, desired)
    if (desired.patches.length === 0) {
      this.#answer(job, startedMs)
      return
    }
    const sent = this.#send(job, startedMs).finally(() => {
      this.#sending.delete(sent)
      this.#options.onSent()
    })
    this.#sending.add(sent)
  }

  /** The key waits for rows of others; its patches wait with it. */
  waits(job: Job<W>, startedMs: number): void {
    this.#options.events.send(job.owner, job.desired)
    this.#finish(job, 'requeue', startedMs)
  }

  /** Somebody else wrote on top of the key's rows, and it will be looked at again; what depends on them waits. */
  contested(job: Job<W>, startedMs: number): void {
    this.#finish(job, 'requeue', startedMs)
  }

  /** The key did not get what it wants: the error's class says what follows. */
  failed(owner: OwnerMark, error: unknown, startedMs: number): void {
    // What fails because everything ends is no news, and there is nobody left to try again.
    if (this.#isClosed) return
    const { queue, problems, events, eventsOf, metrics, clock, random, backoff } = this.#options
    const told = eventsOf(owner, error)
    if (told.length > 0) events.send(owner, { events: told })
    const feature = featureOf(owner)
    const attempt = this.#attempts.get(owner) ?? 0
    this.#attempts.set(owner, attempt + 1)
    metrics.reconciled(feature, 'error', clock.monotonic() - startedMs)
    queue.done(owner)
    if (retryOf(error) !== 'backoff') {
      metrics.parked(feature)
      problems.report(owner, error, { attempt: attempt + 1 })
      return
    }
    metrics.retried(feature)
    const retryMs = backoffDelayMs(backoff, attempt, random)
    problems.report(owner, error, { attempt: attempt + 1, retryMs })
    queue.addAfter(owner, retryMs)
  }

  /** Failures are not told any more. */
  close(): void {
    this.#isClosed = true
  }

  /** Waits for the patches that are under way. */
  async sent(): Promise<void> {
    await Promise.all(this.#sending)
  }

  async #send(job: Job<W>, startedMs: number): Promise<void> {
    const { owner, feature, patches } = job
    const { sender, queue } = this.#options
    try {
      const outcome = await sender.send(owner, feature.name, patches)
      this.#answer(job, startedMs)
      if (outcome === 'again') queue.add(owner, 'live')
    } catch (error) {
      this.failed(owner, error, startedMs)
    }
  }

  #answer(job: Job<W>, startedMs: number): void {
    const { owner, isGone, desired } = job
    const { events, problems, onGone } = this.#options
    if (desired.problem !== undefined) {
      this.failed(owner, desired.problem, startedMs)
      if (desired.problem.retry !== 'backoff') this.#recheck(job)
      return
    }
    this.#attempts.delete(owner)
    problems.clear(owner)
    if (isGone) {
      events.forget(owner)
      onGone(owner)
    }
    this.#finish(job, desired.recheckMs === undefined ? 'success' : 'requeue_after', startedMs)
  }

  #finish(job: Job<W>, result: 'success' | 'requeue' | 'requeue_after', startedMs: number): void {
    const { queue, metrics, clock } = this.#options
    metrics.reconciled(job.feature.name, result, clock.monotonic() - startedMs)
    queue.done(job.owner)
    this.#recheck(job)
  }

  #recheck({ owner, desired }: Job<W>): void {
    if (desired.recheckMs !== undefined) this.#options.queue.addAfter(owner, desired.recheckMs)
  }
}
