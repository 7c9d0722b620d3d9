import {
  compareResourceVersions,
  KubeConnectionError,
  type JsonValue,
  type KubeObject,
  type ObjectChange,
  type Resource,
  type Store,
} from '@kube-ovn/kube'
import type { Configuration } from '../applied.ts'
import type { KubeEvent } from '../feature.ts'
import type { LocalObjects } from '../local-objects.ts'
import { objectKeyOf, resourceKey, type ObjectName, type Objects } from '../objects.ts'
import { turn, type Fate } from './simulated-server.ts'

interface SimulatedObjectsOptions {
  readonly onPatch: () => Fate
  readonly onPatched: () => Fate
}

type Listener = Parameters<Objects['onChange']>[0]

/**
 * What one process sees of an API server that outlives it: requests fail before or after they took effect, and its
 * watch may stall, so that its stores show the past, but for what its own writes are answered.
 */
export class SimulatedObjects implements Objects, Disposable {
  readonly resources: readonly Resource[]
  readonly #server: LocalObjects
  readonly #options: SimulatedObjectsOptions
  readonly #stores: ReadonlyMap<string, Map<string, KubeObject>>
  readonly #listeners = new Set<Listener>()
  readonly #watch: Disposable
  /** What the watch has not told yet, while it stalls. */
  #missed: [Resource, ObjectChange][] | undefined
  #isClosed = false

  constructor(server: LocalObjects, options: SimulatedObjectsOptions) {
    this.#server = server
    this.#options = options
    this.resources = server.resources
    this.#stores = new Map(
      server.resources.map((resource) => {
        const listed = server.store(resource)?.values() ?? []
        return [resourceKey(resource), new Map([...listed].map((one) => [objectKeyOf(one.metadata), one]))]
      }),
    )
    this.#watch = server.onChange((resource, change) => {
      if (this.#missed === undefined) this.#take(resource, change)
      else this.#missed.push([resource, change])
    })
  }

  stall(): void {
    this.#missed ??= []
  }

  catchUp(): void {
    const missed = this.#missed ?? []
    this.#missed = undefined
    for (const [resource, change] of missed) this.#take(resource, change)
  }

  store(resource: Resource): Store<KubeObject> | undefined {
    const objects = this.#stores.get(resourceKey(resource))
    if (objects === undefined) return undefined
    return {
      get: (key) => objects.get(key),
      find: () => [],
      values: () => objects.values(),
      size: objects.size,
    }
  }

  trim(resource: Resource, object: KubeObject): KubeObject {
    return this.#server.trim(resource, object)
  }

  onChange(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  create(resource: Resource, object: KubeObject): Promise<void> {
    return this.#request(resource, object.metadata, () => this.#server.create(resource, object))
  }

  patch(
    resource: Resource,
    name: ObjectName,
    patch: JsonValue,
    options: Parameters<Objects['patch']>[3],
  ): Promise<void> {
    return this.#request(resource, name, () => this.#server.patch(resource, name, patch, options))
  }

  apply(resource: Resource, configuration: Configuration): Promise<KubeObject> {
    return this.#request(resource, configuration.metadata, () => this.#server.apply(resource, configuration))
  }

  remove(resource: Resource, name: ObjectName, uid: string): Promise<void> {
    return this.#request(resource, name, () => this.#server.remove(resource, name, uid))
  }

  async refresh(resource: Resource, name: ObjectName): Promise<void> {
    await this.#server.refresh(resource, name)
    this.#answered(resource, name)
  }

  record(event: KubeEvent): void {
    this.#server.record(event)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#watch[Symbol.dispose]()
    this.#listeners.clear()
  }

  async #request<T>(resource: Resource, name: ObjectName, send: () => Promise<T>): Promise<T> {
    await turn()
    if (this.#options.onPatch() !== 'fine' || this.#isClosed) throw lost
    const answer = await send()
    if (this.#options.onPatched() !== 'fine' || this.#isClosed) throw lost
    this.#answered(resource, name)
    return answer
  }

  /** The answer to a request has the object as it is now, or says that there is none. */
  #answered(resource: Resource, name: ObjectName): void {
    const key = objectKeyOf(name)
    const old = this.store(resource)?.get(key)
    const object = this.#server.store(resource)?.get(key)
    this.#take(resource, { key, old, new: object, initial: false })
  }

  /** Events and answers overtake one another: what is older than what is known says nothing. */
  #take(resource: Resource, { key, old: before, new: object }: ObjectChange): void {
    const objects = this.#stores.get(resourceKey(resource))
    const old = objects?.get(key)
    const said = (object ?? before)?.metadata.resourceVersion
    const known = compareResourceVersions(said, old?.metadata.resourceVersion)
    if (object === undefined ? old === undefined || known < 0 : known <= 0) return
    if (object === undefined) objects?.delete(key)
    else objects?.set(key, object)
    for (const listener of this.#listeners) listener(resource, { key, old, new: object, initial: false })
  }
}

const lost = new KubeConnectionError('lost', { method: 'PATCH', path: '', endpoint: '' })
