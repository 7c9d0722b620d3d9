import type { Resource } from '@kube-ovn/kube'
import type { AnyInformer } from '@kube-ovn/reconcile'

/** What the API server has of each resource: keys of objects and their versions. */
export type ResourceVersions = (
  resources: readonly Resource[],
) => Promise<readonly ReadonlyMap<string, string>[]>

/** Tells whether the informers of a controller are up to date. */
export class WatchedObjects {
  readonly #informers: readonly AnyInformer[]
  readonly #resourceVersions: ResourceVersions
  #changes = 0
  #waiters: (() => void)[] = []

  constructor(informers: readonly AnyInformer[], resourceVersions: ResourceVersions) {
    this.#informers = informers
    this.#resourceVersions = resourceVersions
    for (const informer of informers) informer.onChange(() => this.#changed())
  }

  /** How many changes were seen so far. */
  get changes(): number {
    return this.#changes
  }

  /** Resolves when the stores hold what the API server has. */
  async current(): Promise<void> {
    for (;;) {
      const seen = this.#changes
      const present = await this.#resourceVersions(this.#informers.map(({ resource }) => resource))
      if (this.#informers.every((informer, index) => holds(informer, present[index]))) return
      if (seen === this.#changes) await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  #changed(): void {
    this.#changes++
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}

function holds({ store, namespace }: AnyInformer, all: ReadonlyMap<string, string> = new Map()): boolean {
  const present = [...all].filter(([key]) => namespace === undefined || key.startsWith(`${namespace}/`))
  return (
    present.length === store.size &&
    present.every(([key, version]) => store.get(key)?.metadata.resourceVersion === version)
  )
}
