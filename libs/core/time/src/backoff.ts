/** How long to wait before the next attempt, as a value. */
export interface Backoff {
  readonly initialMs: number
  readonly maxMs: number
  /** Growth from one attempt to the next. */
  readonly factor: number
  /** Share of the delay that is random, 0 to 1: 0.2 yields between 80 and 100 percent of the delay. */
  readonly jitter: number
}

/**
 * Computes the delay after the failed attempt number `attempt`, counted from 0.
 *
 * Jitter only shortens, so `maxMs` is a true bound. `random` yields values in [0, 1), as `Math.random` does.
 */
export function backoffDelayMs(backoff: Backoff, attempt: number, random: () => number): number {
  const delayMs = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** Math.max(0, attempt))
  return delayMs * (1 - backoff.jitter * random())
}
