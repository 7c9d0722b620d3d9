import type { Clock } from './clock.ts'

interface Timer {
  readonly atMs: number
  readonly sequence: number
  readonly callback: () => void
}

/** A clock that stands still until a test advances it. */
export class ManualClock implements Clock {
  readonly #startMs: number
  readonly #timers = new Set<Timer>()
  #elapsedMs = 0
  #sequence = 0

  /** Starts at `startMs` of wall-clock time; the default is 2026-01-01T00:00:00Z. */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs
  }

  now(): number {
    return this.#startMs + this.#elapsedMs
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  setTimer(delayMs: number, callback: () => void): Disposable {
    const timer: Timer = {
      atMs: this.#elapsedMs + Math.max(0, delayMs),
      sequence: this.#sequence++,
      callback,
    }
    this.#timers.add(timer)
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) }
  }

  /** Milliseconds until the next timer is due; `undefined` when none is set. */
  get nextTimerMs(): number | undefined {
    const timer = this.#first()
    return timer === undefined ? undefined : timer.atMs - this.#elapsedMs
  }

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /**
   * Moves time by `ms` and calls what falls due on the way, in order of time, then of setting.
   *
   * A timer set by a callback fires too if it falls due within `ms`. Promises settle only after the return.
   */
  advance(ms: number): void {
    const targetMs = this.#elapsedMs + ms
    for (;;) {
      const timer = this.#first()
      if (timer === undefined || timer.atMs > targetMs) break
      this.#elapsedMs = timer.atMs
      this.#timers.delete(timer)
      timer.callback()
    }
    this.#elapsedMs = targetMs
  }

  #first(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (
        first === undefined ||
        timer.atMs < first.atMs ||
        (timer.atMs === first.atMs && timer.sequence < first.sequence)
      ) {
        first = timer
      }
    }
    return first
  }
}
