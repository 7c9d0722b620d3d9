import type { Clock } from '@kube-ovn/time'
import type { OwnerMark } from './marks.ts'

/** A key may be put right so often in a window; what comes on top waits. */
const heals = { count: 10, windowMs: 10_000, pauseMs: 1000 } as const

/**
 * Keeps a fight over a row from becoming a loop: somebody who writes a column whenever we do would otherwise be
 * answered at the speed of the network.
 */
export class DriftLimit {
  readonly #clock: Clock
  readonly #windows = new Map<OwnerMark, { readonly sinceMs: number; count: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes that a key's rows were put right; answers whether it has been too often just now. */
  healed(owner: OwnerMark): boolean {
    const nowMs = this.#clock.monotonic()
    for (const [other, { sinceMs }] of this.#windows) {
      // Windows stand in order of their beginning.
      if (nowMs - sinceMs < heals.windowMs) break
      this.#windows.delete(other)
    }
    const window = this.#windows.get(owner)
    if (window === undefined) this.#windows.set(owner, { sinceMs: nowMs, count: 1 })
    else window.count++
    return window?.count === heals.count
  }

  /** How long the next look at a key must wait. */
  pauseMs(owner: OwnerMark): number {
    const window = this.#windows.get(owner)
    if (window === undefined || this.#clock.monotonic() - window.sinceMs >= heals.windowMs) return 0
    return window.count < heals.count ? 0 : heals.pauseMs
  }
}
