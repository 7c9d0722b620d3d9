import type { Clock } from '@kube-ovn/time'
import type { Waiting } from './desired.ts'

/** A node that comes is told before its chassis is registered, which takes seconds. */
const patienceMs = 60_000

/** Finds nodes whose chassis has waited for long, each once for as long as the reason stays. */
export class WaitingNodes {
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly sinceMs: number; isTold: boolean }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Those to be told of now, and the time until the next one is. */
  follow(waiting: readonly Waiting[]): {
    readonly overdue: readonly Waiting[]
    readonly nextMs: number | undefined
  } {
    const nowMs = this.#clock.monotonic()
    const byKey = new Map(waiting.map((one) => [keyOf(one), one]))
    for (const key of this.#known.keys()) if (!byKey.has(key)) this.#known.delete(key)
    const overdue: Waiting[] = []
    let nextMs: number | undefined
    for (const [key, one] of byKey) {
      const entry = this.#known.get(key) ?? { sinceMs: nowMs, isTold: false }
      this.#known.set(key, entry)
      if (entry.isTold) continue
      const leftMs = entry.sinceMs + patienceMs - nowMs
      if (leftMs > 0) nextMs = Math.min(nextMs ?? leftMs, leftMs)
      else {
        entry.isTold = true
        overdue.push(one)
      }
    }
    return { overdue, nextMs }
  }
}

function keyOf({ node, chassis, reason }: Waiting): string {
  return `${node} ${chassis} ${reason.is}`
}
