import {
  KubeAlreadyExistsError,
  KubeConflictError,
  KubeNotFoundError,
  applyMergePatch,
  objectKey,
  type JsonValue,
  type KubeObject,
  type Resource,
} from '@kube-ovn/kube'
import { asApplied, type Configuration } from './applied.ts'
import type { KubeEvent } from './feature.ts'
import { objectKeyOf, resourceKey, type ObjectName, type Objects } from './objects.ts'

type Listener = Parameters<Objects['onChange']>[0]

/** Objects in memory, with the writes that they received: the API server of tests that are about something else. */
export class LocalObjects implements Objects {
  readonly resources: readonly Resource[]
  readonly writes: string[] = []
  readonly events: KubeEvent[] = []
  /** Called before each write; a test may throw from it, or wait. */
  onWrite: (line: string) => Promise<void> | void = () => undefined
  readonly #stores: ReadonlyMap<string, Map<string, KubeObject>>
  readonly #listeners = new Set<Listener>()
  #versions = 0

  constructor(resources: readonly Resource[]) {
    this.resources = resources
    this.#stores = new Map(resources.map((resource) => [resourceKey(resource), new Map()]))
  }

  store(resource: Resource) {
    const objects = this.#stores.get(resourceKey(resource))
    if (objects === undefined) return undefined
    return {
      get: (key: string) => objects.get(key),
      find: () => [],
      values: () => objects.values(),
      size: objects.size,
    }
  }

  /** What stores keep of objects. */
  trim = (_resource: Resource, object: KubeObject): KubeObject => object

  onChange(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Puts an object as a user would; without one, removes it. */
  put(resource: Resource, key: string, object: KubeObject | undefined): void {
    const objects = this.#stores.get(resourceKey(resource))
    const old = objects?.get(key)
    const resourceVersion = String(++this.#versions)
    const put = object && { ...object, metadata: { ...object.metadata, resourceVersion } }
    if (put === undefined) objects?.delete(key)
    else objects?.set(key, put)
    for (const listener of this.#listeners) listener(resource, { key, old, new: put, initial: false })
  }

  async create(resource: Resource, object: KubeObject): Promise<void> {
    await this.#write(`create ${resource.plural} ${objectKey(object)}`)
    if (this.store(resource)?.get(objectKey(object)) !== undefined)
      throw new KubeAlreadyExistsError('exists', refusal(409, 'AlreadyExists'))
    this.put(resource, objectKey(object), object)
  }

  async patch(
    resource: Resource,
    name: ObjectName,
    patch: JsonValue,
    { subresource, uid }: Parameters<Objects['patch']>[3],
  ): Promise<void> {
    const suffix = subresource === undefined ? '' : `/${subresource}`
    await this.#write(`patch ${resource.plural}${suffix} ${objectKeyOf(name)} ${JSON.stringify(patch)}`)
    const object = this.store(resource)?.get(objectKeyOf(name))
    if (object === undefined) throw notFound()
    if (uid !== object.metadata.uid || isOfAnotherVersion(patch, object))
      throw new KubeConflictError('changed', refusal(409, 'Conflict'))
    this.put(resource, objectKeyOf(name), applyMergePatch(object, patch) as KubeObject)
  }

  async apply(resource: Resource, configuration: Configuration): Promise<KubeObject> {
    const key = objectKey(configuration)
    await this.#write(`apply ${resource.plural} ${key} ${JSON.stringify(configuration)}`)
    const applied = asApplied(configuration, this.store(resource)?.get(key))
    this.put(resource, key, applied)
    return applied
  }

  async remove(resource: Resource, name: ObjectName, uid: string): Promise<void> {
    await this.#write(`delete ${resource.plural} ${objectKeyOf(name)} ${uid}`)
    if (this.store(resource)?.get(objectKeyOf(name)) === undefined) throw notFound()
    this.put(resource, objectKeyOf(name), undefined)
  }

  refresh(resource: Resource, name: ObjectName): Promise<void> {
    return this.#write(`get ${resource.plural} ${objectKeyOf(name)}`)
  }

  record(event: KubeEvent): void {
    this.events.push(event)
  }

  async #write(line: string): Promise<void> {
    this.writes.push(line)
    await this.onWrite(line)
  }
}

function notFound(): KubeNotFoundError {
  return new KubeNotFoundError('not found', refusal(404, 'NotFound'))
}

function refusal(status: number, reason: string) {
  return { method: 'PATCH', path: '', status, reason, answer: '', causes: [], hasName: true }
}

/** The patch is for one version of the object, and that is not the present one. */
function isOfAnotherVersion(patch: JsonValue, object: KubeObject): boolean {
  const { metadata: { resourceVersion = undefined } = {} } = patch as Partial<KubeObject>
  return resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion
}
