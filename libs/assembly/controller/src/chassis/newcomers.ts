import type { NodeChassis } from '@kube-ovn/domains-control/topology'

/** In this time the agent of a node that comes tells its chassis, images included. A Node without an agent never does. */
export const patienceMs = 300_000

/** Remembers since when nodes have not told their chassis. */
export class Newcomers {
  readonly #sinceMs = new Map<string, number>()

  /** When the last of the nodes has told its chassis that is expected to do so; now, if none is. */
  untilMs(nodes: readonly NodeChassis[], nowMs: number): number {
    const untold = new Set(nodes.flatMap(({ node, chassis }) => (chassis === undefined ? [node] : [])))
    for (const node of this.#sinceMs.keys()) if (!untold.has(node)) this.#sinceMs.delete(node)
    for (const node of untold) if (!this.#sinceMs.has(node)) this.#sinceMs.set(node, nowMs)
    return Math.max(nowMs, ...[...this.#sinceMs.values()].map((sinceMs) => sinceMs + patienceMs))
  }
}
