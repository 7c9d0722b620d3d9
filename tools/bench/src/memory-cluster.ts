import { assembleKernel, controlFeatures, declarationsOf } from '@kube-ovn/assembly-controller'
import { Stores, type ControlFeature, type AllocatingWorld } from '@kube-ovn/domains-control'
import { chartDefinitions, controlSettings } from '@kube-ovn/domains-control/testing/settings'
import { applyMergePatch, IndexedStore, objectKey } from '@kube-ovn/kube'
import type { KubeObject, ObjectChange, Resource, Store } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { defaultsOf, systemClock } from '@kube-ovn/process'
import { asApplied, type Database, type Kernel, type Objects } from '@kube-ovn/reconcile'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import type { Cache } from 'ovsdb-client'

/** A store, whatever the type of its objects: it is only given objects of its own resource. */
interface AnyStore extends Store<KubeObject> {
  put(key: string, object: KubeObject): void
  delete(key: string): void
}

type Listener = Parameters<Objects['onChange']>[0]

/**
 * The controller's features and kernel on objects in memory.
 *
 * It is for what is about the Northbound alone: writes to the API server are taken at once, so that they do not count.
 */
export class MemoryCluster implements AsyncDisposable {
  readonly kernel: Kernel<AllocatingWorld>
  readonly start: () => Promise<void>
  readonly #stores: ReadonlyMap<string, AnyStore>
  readonly #listeners = new Set<Listener>()

  /** With other features than the controller's, where they are given. */
  constructor(
    database: Database & { readonly cache: Cache<OvnNorthbound> },
    features: readonly ControlFeature[] = controlFeatures,
  ) {
    const { watches, flags } = declarationsOf(features)
    const resources = watches.map(({ resource }) => resource)
    const made = watches.map((watch) => new IndexedStore(watch.indexes))
    this.#stores = new Map(made.map((store, index) => [keyOf(resources[index] as Resource), store]))
    const stores = new Stores(made.map((store, index) => [resources[index] as Resource, store]))
    const settings = controlSettings({ flags: defaultsOf(flags) })
    const { kernel, start } = assembleKernel({
      ...{ features, stores, database, settings, definitions: chartDefinitions },
      objects: this.#objects(resources),
      clock: systemClock,
      logger: silentLogger,
      metrics: kernelMetrics(new Registry()),
    })
    this.kernel = kernel
    this.start = start
  }

  /** Takes in the next state of an object, as from a watch. */
  put(resource: Resource, object: KubeObject): void {
    const key = objectKey(object)
    const store = this.#stores.get(keyOf(resource))
    const old = store?.get(key)
    store?.put(key, object)
    this.#tell(resource, { key, old, new: object, initial: false })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kernel[Symbol.asyncDispose]()
  }

  #tell(resource: Resource, change: ObjectChange): void {
    for (const listener of this.#listeners) listener(resource, change)
  }

  #objects(resources: readonly Resource[]): Objects {
    const find = (resource: Resource, name: { namespace?: string; name: string }): KubeObject | undefined =>
      this.#stores.get(keyOf(resource))?.get(objectKey({ metadata: name }))
    return {
      resources,
      store: (resource) => this.#stores.get(keyOf(resource)),
      onChange: (listener) => {
        this.#listeners.add(listener)
        return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
      },
      trim: (_resource, object) => object,
      create: async (resource, object) => this.put(resource, object),
      patch: async (resource, name, patch) => {
        const object = find(resource, name)
        if (object !== undefined) this.put(resource, applyMergePatch(object, patch) as KubeObject)
      },
      apply: async (resource, configuration) => {
        const applied = asApplied(configuration, find(resource, configuration.metadata))
        this.put(resource, applied)
        return applied
      },
      remove: async (resource, name) => {
        const old = find(resource, name)
        if (old === undefined) return
        this.#stores.get(keyOf(resource))?.delete(objectKey(old))
        this.#tell(resource, { key: objectKey(old), old, new: undefined, initial: false })
      },
      refresh: async () => undefined,
      record: () => undefined,
    }
  }
}

function keyOf({ plural, group }: Resource): string {
  return `${plural}.${group}`
}
