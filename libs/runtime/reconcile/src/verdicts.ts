import type { RowRef } from '@kube-ovn/ovn-names'
import type { Logger } from '@kube-ovn/log'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'
import type { Answers } from './answers.ts'
import { isFaultOfContent } from './commit.ts'
import { DriftLimit } from './drift-limit.ts'
import type { NotSettledError } from './errors.ts'
import type { Garbage } from './garbage.ts'
import type { Job } from './jobs.ts'
import { idMark, type OwnerMark } from './marks.ts'
import type { Planner } from './planner.ts'
import { UnservedKeys } from './unserved.ts'

interface VerdictsOptions<W> {
  readonly planner: Planner<W>
  readonly garbage: Garbage
  readonly answers: Answers<W>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: KernelMetrics
  /** Reconciles a key again. */
  readonly reconsider: (owner: OwnerMark) => void
}

/** What is said of a key's rows at the end of its round, and who has to hear of it. */
export class Verdicts<W> {
  readonly #options: VerdictsOptions<W>
  /** Keys of whose rows somebody else changed one; what they have of it may still be what they want. */
  readonly #drifted = new Map<OwnerMark, 'suspected' | 'found'>()
  readonly #driftLimit: DriftLimit
  /** Keys that lacked something as soon as what they wanted had arrived. */
  readonly #contested = new Set<OwnerMark>()
  readonly #unserved: UnservedKeys

  constructor(options: VerdictsOptions<W>) {
    this.#options = options
    this.#driftLimit = new DriftLimit(options.clock)
    this.#unserved = new UnservedKeys(options.clock)
  }

  /** Age of the key that has gone longest without being written, for no fault of its own. */
  get oldestUnservedMs(): number {
    return this.#unserved.oldestMs
  }

  /** Somebody else changed a row of the key. Answers how long the next look at it must wait. */
  suspected(owner: OwnerMark): number {
    if (!this.#drifted.has(owner)) this.#drifted.set(owner, 'suspected')
    return this.#driftLimit.pauseMs(owner)
  }

  /** The key lacks something, and it is on its way. */
  sent({ owner, feature }: Job<W>): void {
    if (this.#drifted.get(owner) !== 'suspected') return
    this.#drifted.set(owner, 'found')
    this.#options.metrics.driftFound(feature.name)
  }

  /** What was sent arrived, and nothing is left to do. */
  landed(job: Job<W>, startedMs: number): void {
    const { owner, feature, key } = job
    if (this.#drifted.has(owner)) {
      this.#options.metrics.driftHealed(feature.name)
      if (this.#driftLimit.healed(owner)) {
        this.#options.logger.warn('rows fought over', { feature: feature.name, key })
      }
    }
    this.settled(job, startedMs)
  }

  /** The key has what it wants, or wants to be let alone. */
  settled(job: Job<W>, startedMs: number): void {
    const { garbage, answers } = this.#options
    const { owner, desired } = job
    this.#unserved.delete(owner)
    if (desired.hold === true) {
      this.#options.planner.hold(owner)
      // What it has stays, and what it would adopt must not be collected.
      garbage.markFailing(owner)
    } else {
      this.#remember(job, true)
      garbage.markSettled(owner)
    }
    this.#drifted.delete(owner)
    this.#contested.delete(owner)
    answers.settled(job, startedMs)
  }

  /** The key waits for rows that are not there. */
  waits(job: Job<W>, refs: readonly RowRef[], startedMs: number): void {
    const { garbage, answers, logger } = this.#options
    const { owner, feature, key } = job
    this.#unserved.delete(owner)
    this.#remember(job, false)
    garbage.markFailing(owner)
    logger.debug('key waits for rows', { feature: feature.name, key, missing: refs.map(idMark) })
    answers.waits(job, startedMs)
  }

  /**
   * What was sent arrived, and the key lacks something all the same: somebody else wrote on top of it, so it is looked at again. When that comes
   * to the same, the database does not keep what it is given.
   */
  contested(job: Job<W>, error: NotSettledError, startedMs: number): void {
    const { owner } = job
    if (this.#contested.has(owner)) {
      this.failed(owner, error, startedMs, job)
      return
    }
    this.#contested.add(owner)
    this.suspected(owner)
    this.#remember(job, false)
    this.#options.garbage.markFailing(owner)
    this.#options.answers.contested(job, startedMs)
    this.reconsider(owner)
  }

  /** It is not known, or not so, that the key's rows are what it wants. */
  failed(owner: OwnerMark, error: unknown, startedMs: number, job?: Job<W>): void {
    const { garbage, answers } = this.#options
    if (job === undefined) this.#options.planner.hold(owner)
    else this.#remember(job, false)
    if (isFaultOfContent(error)) this.#unserved.delete(owner)
    garbage.markFailing(owner)
    answers.failed(owner, error, startedMs)
  }

  /** What was sent did not arrive, or nobody said so. */
  lost(job: Job<W>, error: unknown, startedMs: number): void {
    this.failed(job.owner, error, startedMs, job)
    this.#unserved.add(job.owner)
  }

  /** What was said of the key may be so no more. */
  reconsider(owner: OwnerMark): void {
    this.#options.reconsider(owner)
  }

  #remember(job: Job<W>, isSettled: boolean): void {
    for (const owner of this.#options.planner.remember(job, isSettled)) this.reconsider(owner)
  }
}
