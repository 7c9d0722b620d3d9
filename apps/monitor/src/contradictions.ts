import type { Contradictions } from '@kube-ovn/telemetry'

/** Keeps since when each contradiction has been seen: on a cluster where much changes some are there at all times, and always others. */
export class SeenContradictions {
  readonly #sinceMs = new Map<string, ReadonlyMap<string, number>>()

  /** Takes note of what there is by now, by kind, and tells how many there are and since when the oldest has been there. */
  look(found: ReadonlyMap<string, ReadonlySet<string>>, nowMs: number): ReadonlyMap<string, Contradictions> {
    const entries = [...found].map(([kind, names]) => {
      const before = this.#sinceMs.get(kind)
      const since = new Map(Array.from(names, (name) => [name, before?.get(name) ?? nowMs] as const))
      this.#sinceMs.set(kind, since)
      const oldestMs = Iterator.from(since.values()).reduce((least, ms) => Math.min(least, ms), nowMs)
      return [kind, { count: names.size, seconds: (nowMs - oldestMs) / 1000 }] as const
    })
    return new Map(entries)
  }
}
