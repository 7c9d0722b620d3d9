import { backoffDelayMs } from '@kube-ovn/time'
import type { Doomed } from './desired.ts'
import { patienceMs } from './newcomers.ts'

/**
 * How long a node must have named another chassis until the one before goes. The new one can not be registered before, with the same
 * address for tunnels; but what somebody wrote by hand into the annotation, the agent puts right within a second.
 */
const replacedMs = 10_000

/** ovn-controller registers a chassis again as long as it runs: podgc ends it a minute after its Node is gone. */
const againBackoff = { initialMs: 2_000, maxMs: 300_000, factor: 2, jitter: 0 } as const

/** Of so many chassis that were removed it is known that they were: a thousand machines that come and go each day, for ten days. */
const removedLimit = 10_000

/** Remembers since when chassis are to go, and how often they went already. */
export class Removals {
  /** By the row's id. */
  readonly #sinceMs = new Map<string, number>()
  /** By name: of what was removed as its node was gone. */
  readonly #removed = new Map<
    string,
    { readonly node: string; readonly count: number; readonly atMs: number }
  >()

  /** Names of chassis that were removed, with their nodes. */
  get nodes(): ReadonlyMap<string, string> {
    return new Map([...this.#removed].map(([name, { node }]) => [name, node]))
  }

  /**
   * Divides what is to go into what goes now, and what has to wait: for so many milliseconds, the first of them. `newcomerMs` is when, at the latest,
   * every node that has come lately has told its chassis: until then one of a node that is gone may be the same machine's, by another name.
   */
  due(
    doomed: readonly Doomed[],
    nowMs: number,
    newcomerMs = nowMs,
  ): { readonly now: readonly Doomed[]; readonly nextMs: number | undefined } {
    const ids = new Set(doomed.map(({ chassis }) => chassis._uuid))
    for (const id of this.#sinceMs.keys()) if (!ids.has(id)) this.#sinceMs.delete(id)
    for (const id of ids) if (!this.#sinceMs.has(id)) this.#sinceMs.set(id, nowMs)
    const waits = doomed.map((one) => ({ one, leftMs: this.#atMs(one, nowMs, newcomerMs) - nowMs }))
    const later = waits.flatMap(({ leftMs }) => (leftMs > 0 ? [leftMs] : []))
    return {
      now: waits.flatMap(({ one, leftMs }) => (leftMs > 0 ? [] : [one])),
      nextMs: later.length === 0 ? undefined : Math.min(...later),
    }
  }

  /** Takes in that they were removed. */
  done(doomed: readonly Doomed[], nowMs: number): void {
    for (const { chassis, node, why } of doomed) {
      if (why !== 'node-gone') continue
      const count = (this.#removed.get(chassis.name)?.count ?? 0) + 1
      // What was removed last is forgotten last.
      this.#removed.delete(chassis.name)
      this.#removed.set(chassis.name, { node, count, atMs: nowMs })
    }
    for (const name of this.#removed.keys()) {
      if (this.#removed.size <= removedLimit) break
      this.#removed.delete(name)
    }
  }

  /** A node has this chassis: it is no longer that of one that is gone. */
  claimed(name: string): void {
    this.#removed.delete(name)
  }

  #atMs({ chassis, why }: Doomed, nowMs: number, newcomerMs: number): number {
    if (why === 'replaced') return (this.#sinceMs.get(chassis._uuid) ?? nowMs) + replacedMs
    const before = this.#removed.get(chassis.name)
    const againMs =
      before === undefined ? nowMs : before.atMs + backoffDelayMs(againBackoff, before.count - 1, () => 0)
    // Machines may come for ever: nobody waits longer than for one of them.
    const sinceMs = this.#sinceMs.get(chassis._uuid) ?? nowMs
    return Math.max(againMs, Math.min(newcomerMs, sinceMs + patienceMs))
  }
}
