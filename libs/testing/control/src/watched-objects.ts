import { Informer } from '@kube-ovn/kube'
import type { KubeClient, Resource } from '@kube-ovn/kube'
import type { Vpc } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { AnyInformer } from '@kube-ovn/reconcile'
import {
  type DefinitionInformer,
  definitionInformers,
  watchedInformers,
  watchedStores,
} from '@kube-ovn/domains-control'
import type { WatchedStores } from '@kube-ovn/domains-control'

/** What the API server has of each resource: keys of objects and their versions. */
export type ResourceVersions = (
  resources: readonly Resource[],
) => Promise<readonly ReadonlyMap<string, string>[]>

export interface WatchedObjectsOptions {
  readonly client: KubeClient
  readonly resourceVersions: ResourceVersions
  readonly logger: Logger
  /** Rejects when a request is refused that would be tried again for ever. */
  readonly refused: Promise<never>
}

/** The informers of a controller, which can tell whether they are up to date. */
export class WatchedObjects implements AsyncDisposable {
  readonly stores: WatchedStores
  readonly informers: readonly AnyInformer[]
  readonly vpcs: Informer<Vpc>
  readonly definitions: readonly DefinitionInformer[]
  readonly #resourceVersions: ResourceVersions
  readonly #stack: AsyncDisposableStack
  #changes = 0
  #waiters: (() => void)[] = []

  private constructor(
    stores: WatchedStores,
    informers: readonly AnyInformer[],
    vpcs: Informer<Vpc>,
    definitions: readonly DefinitionInformer[],
    resourceVersions: ResourceVersions,
    stack: AsyncDisposableStack,
  ) {
    this.stores = stores
    this.informers = informers
    this.vpcs = vpcs
    this.definitions = definitions
    this.#resourceVersions = resourceVersions
    this.#stack = stack
    for (const informer of informers) informer.onChange(() => this.#changed())
  }

  static async open(options: WatchedObjectsOptions): Promise<WatchedObjects> {
    const { client, resourceVersions, logger, refused } = options
    await using stack = new AsyncDisposableStack()
    const watch = { client, clock: systemClock, logger }
    const byName = watchedInformers((_name, of) => stack.use(new Informer({ ...watch, ...of })))
    const informers = Object.values(byName)
    const definitions = definitionInformers((of) => stack.use(new Informer({ ...watch, ...of })))
    const all = [...informers, ...definitions]
    for (const informer of all) informer.start()
    await Promise.race([Promise.all(all.map((informer) => informer.synced)), refused])
    const stores = watchedStores((name) => byName[name].store)
    return new WatchedObjects(stores, informers, byName.vpcs, definitions, resourceVersions, stack.move())
  }

  /** How many changes were seen so far. */
  get changes(): number {
    return this.#changes
  }

  /** Resolves when the stores hold what the API server has. */
  async current(): Promise<void> {
    for (;;) {
      const seen = this.#changes
      const present = await this.#resourceVersions(this.informers.map(({ resource }) => resource))
      if (this.informers.every((informer, index) => holds(informer, present[index]))) return
      if (seen === this.#changes) await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  #changed(): void {
    this.#changes++
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}

function holds({ store }: AnyInformer, present: ReadonlyMap<string, string> = new Map()): boolean {
  return (
    present.size === store.size &&
    [...present].every(([key, version]) => store.get(key)?.metadata.resourceVersion === version)
  )
}
