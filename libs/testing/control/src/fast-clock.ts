import { systemClock } from '@kube-ovn/process'
import type { Clock } from '@kube-ovn/time'

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
  handle: Disposable
}

/** A clock that runs faster than the machine's, from the same time on, and can be put forward. */
export class FastClock implements Clock {
  readonly #factor: number
  readonly #startMs = systemClock.now()
  readonly #monotonicStartMs = systemClock.monotonic()
  readonly #timers = new Set<Timer>()
  #aheadMs = 0

  /** It runs `factor` times as fast. */
  constructor(factor: number) {
    this.#factor = factor
  }

  now(): number {
    return this.#startMs + this.#elapsedMs()
  }

  monotonic(): number {
    return this.#monotonicStartMs + this.#elapsedMs()
  }

  setTimer(delayMs: number, callback: () => void): Disposable {
    const timer: Timer = { dueMs: this.monotonic() + delayMs, callback, handle: neverSet }
    this.#timers.add(timer)
    this.#arm(timer)
    return {
      [Symbol.dispose]: () => {
        this.#timers.delete(timer)
        timer.handle[Symbol.dispose]()
      },
    }
  }

  /** Lets time pass at once: what is due by then is called in a later turn, so that no test waits for it, nor is overtaken by it. */
  putForward(ms: number): void {
    this.#aheadMs += ms
    for (const timer of this.#timers) {
      timer.handle[Symbol.dispose]()
      this.#arm(timer)
    }
  }

  #arm(timer: Timer): void {
    const delayMs = Math.max(0, timer.dueMs - this.monotonic())
    timer.handle = systemClock.setTimer(Math.ceil(delayMs / this.#factor), () => {
      // The machine's timers may be early by a millisecond, which is long here.
      if (this.monotonic() < timer.dueMs) return this.#arm(timer)
      this.#timers.delete(timer)
      timer.callback()
    })
  }

  #elapsedMs(): number {
    return (systemClock.monotonic() - this.#monotonicStartMs) * this.#factor + this.#aheadMs
  }
}

const neverSet: Disposable = { [Symbol.dispose]: () => undefined }
