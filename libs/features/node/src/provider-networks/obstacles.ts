import type { KubeOvnError } from '@kube-ovn/errors'

type Listener = (network: string, old: KubeOvnError | undefined, now: KubeOvnError | undefined) => void

/** Why networks can not be connected, as the node is: what only the sink sees. */
export class Obstacles {
  readonly #rows = new Map<string, KubeOvnError>()
  readonly #listeners = new Set<Listener>()

  get rows(): ReadonlyMap<string, KubeOvnError> {
    return this.#rows
  }

  set(network: string, problem: KubeOvnError | undefined): void {
    const old = this.#rows.get(network)
    if (textOf(old) === textOf(problem)) return
    if (problem === undefined) this.#rows.delete(network)
    else this.#rows.set(network, problem)
    for (const listener of this.#listeners) listener(network, old, problem)
  }

  onChange(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}

function textOf(problem: KubeOvnError | undefined): string {
  return problem === undefined ? '' : JSON.stringify([problem.code, problem.details])
}
