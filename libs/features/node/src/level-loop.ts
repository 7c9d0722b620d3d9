import type { Logger } from '@kube-ovn/log'
import { backoffDelayMs, type Backoff, type Clock } from '@kube-ovn/time'

export interface LevelLoopOptions {
  /** Name of the feature, for log lines. */
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  /** Yields values in [0, 1): spreads retries. */
  readonly random: () => number
  /** Makes the world equal to what is wanted now. Throws when that did not work out. */
  reconcile(): Promise<void> | void
}

const retry: Backoff = { initialMs: 200, maxMs: 15_000, factor: 2, jitter: 0.2 }

/**
 * Runs a function whenever something that it reads may have changed.
 *
 * Triggers that come while it runs cause one more run after it; it never runs twice at once. A failure is logged,
 * once for each message, and tried again after a while or at the next trigger, whichever comes first. The process
 * never ends because of one.
 */
export class LevelLoop implements Disposable {
  readonly #options: LevelLoopOptions
  #isDisposed = false
  #isDirty = false
  #isRunning = false
  #attempt = 0
  #lastFailure = ''
  #timer: Disposable | undefined
  #idle = Promise.withResolvers<void>()

  constructor(options: LevelLoopOptions) {
    this.#options = options
    this.#idle.resolve()
  }

  /** Says that something changed. Cheap: many triggers of one turn of the event loop make one run. */
  trigger(): void {
    if (this.#isDisposed || this.#isDirty) return
    if (!this.#isRunning) this.#idle = Promise.withResolvers()
    this.#isDirty = true
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    if (!this.#isRunning) queueMicrotask(() => void this.#run())
  }

  /** Resolves when no run is due, apart from retries. */
  get idle(): Promise<void> {
    return this.#idle.promise
  }

  /** Whether the last run succeeded. */
  get isHealthy(): boolean {
    return this.#attempt === 0
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#timer?.[Symbol.dispose]()
    this.#idle.resolve()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#isDirty && !this.#isDisposed) {
      this.#isDirty = false
      try {
        await this.#options.reconcile()
        this.#attempt = 0
        this.#lastFailure = ''
      } catch (error) {
        this.#failed(error)
      }
    }
    this.#isRunning = false
    this.#idle.resolve()
  }

  #failed(error: unknown): void {
    if (this.#isDisposed) return
    const { name, clock, log, random } = this.#options
    const retryMs = backoffDelayMs(retry, this.#attempt, random)
    this.#attempt += 1
    const failure = String(error)
    const fields = { feature: name, attempt: this.#attempt, retryMs: Math.round(retryMs), err: error }
    if (failure === this.#lastFailure) log.debug('reconciliation failed again', fields)
    else log.warn('reconciliation failed', fields)
    this.#lastFailure = failure
    this.#timer = clock.setTimer(retryMs, () => this.trigger())
  }
}
