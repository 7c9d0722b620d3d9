import type { Clock } from '@kube-ovn/time'
import type { OwnerMark } from './marks.ts'

/** Keys that could not be written for no fault of their own, from the first time on until they are. */
export class UnservedKeys {
  readonly #clock: Clock
  /** In the order of time. */
  readonly #sinceMs = new Map<OwnerMark, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(owner: OwnerMark): void {
    if (!this.#sinceMs.has(owner)) this.#sinceMs.set(owner, this.#clock.monotonic())
  }

  delete(owner: OwnerMark): void {
    this.#sinceMs.delete(owner)
  }

  get oldestMs(): number {
    for (const sinceMs of this.#sinceMs.values()) return this.#clock.monotonic() - sinceMs
    return 0
  }
}
