import { KubeConnectionError, type JsonValue, type KubeObject, type Resource } from '@kube-ovn/kube'
import type { KubeEvent } from '../feature.ts'
import type { MemoryObjects } from '../memory-objects.ts'
import type { ObjectName, Objects } from '../objects.ts'
import { turn, type Fate } from './simulated-server.ts'

interface SimulatedObjectsOptions {
  readonly onPatch: () => Fate
  readonly onPatched: () => Fate
}

/** What one process sees of an API server that outlives it; requests fail before or after they took effect. */
export class SimulatedObjects implements Objects, Disposable {
  readonly resources: readonly Resource[]
  readonly #server: MemoryObjects
  readonly #options: SimulatedObjectsOptions
  readonly #subscriptions = new DisposableStack()
  #isClosed = false

  constructor(server: MemoryObjects, options: SimulatedObjectsOptions) {
    this.#server = server
    this.#options = options
    this.resources = server.resources
  }

  store(resource: Resource) {
    return this.#server.store(resource)
  }

  onChange(listener: Parameters<Objects['onChange']>[0]): Disposable {
    return this.#subscriptions.use(this.#server.onChange(listener))
  }

  create(resource: Resource, object: KubeObject): Promise<void> {
    return this.#request(() => this.#server.create(resource, object))
  }

  patch(
    resource: Resource,
    name: ObjectName,
    patch: JsonValue,
    subresource: string | undefined,
  ): Promise<void> {
    return this.#request(() => this.#server.patch(resource, name, patch, subresource))
  }

  remove(resource: Resource, name: ObjectName, uid: string): Promise<void> {
    return this.#request(() => this.#server.remove(resource, name, uid))
  }

  refresh(resource: Resource, name: ObjectName): Promise<void> {
    return this.#server.refresh(resource, name)
  }

  record(event: KubeEvent): void {
    this.#server.record(event)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#subscriptions.dispose()
  }

  async #request(send: () => Promise<void>): Promise<void> {
    await turn()
    if (this.#options.onPatch() !== 'fine' || this.#isClosed) throw lost
    await send()
    if (this.#options.onPatched() !== 'fine' || this.#isClosed) throw lost
  }
}

const lost = new KubeConnectionError('lost', { method: 'PATCH', path: '', endpoint: '' })
