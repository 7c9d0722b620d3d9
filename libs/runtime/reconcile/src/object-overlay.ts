import { applyMergePatch } from '@kube-ovn/kube'
import type { IndexFunction, KubeObject, ObjectChange, ObjectKey, Resource, Store } from '@kube-ovn/kube'
import { asApplied } from './applied.ts'
import type { Fork } from './kernel-options.ts'
import { objectKeyOf, resourceKey, type ObjectName, type Objects } from './objects.ts'
import type { Write } from './patches.ts'

/** Set on an object that has been deleted and waits for its finalizers. */
const deletionTimestamp = '1970-01-01T00:00:00Z'

/** Objects as they would be after some changes; those that stay the same are read from where they are. */
export class ObjectOverlay implements Pick<Fork, 'store'> {
  readonly #objects: Pick<Objects, 'store'>
  readonly #changed = new Map<string, Map<ObjectKey, KubeObject | undefined>>()

  constructor(objects: Pick<Objects, 'store'>) {
    this.#objects = objects
  }

  get(resource: Resource, name: ObjectName): KubeObject | undefined {
    const key = objectKeyOf(name)
    const changed = this.#changed.get(resourceKey(resource))
    return changed?.has(key) === true ? changed.get(key) : this.#objects.store(resource)?.get(key)
  }

  /** Creates the object, or puts it in the place of what there is of this name. */
  put(resource: Resource, object: KubeObject): ObjectChange {
    const { metadata } = object
    // The API server gives every object a uid.
    return this.#set(resource, metadata, {
      ...object,
      metadata: { ...metadata, uid: metadata.uid ?? 'planned' },
    })
  }

  /** Deletes the object as the API server does: it stays, marked, for as long as it has finalizers. */
  remove(resource: Resource, name: ObjectName): ObjectChange {
    const object = this.get(resource, name)
    if (object === undefined || (object.metadata.finalizers ?? []).length === 0) {
      return this.#set(resource, name, undefined)
    }
    return this.#set(resource, name, { ...object, metadata: { ...object.metadata, deletionTimestamp } })
  }

  /** Carries out what the kernel would write. */
  write(resource: Resource, name: ObjectName, write: Write): readonly ObjectChange[] {
    if (write.verb === 'create') return [this.put(resource, write.object)]
    if (write.verb === 'apply') return [this.put(resource, asApplied(write.sent, this.get(resource, name)))]
    const changes: ObjectChange[] = []
    if (write.patch !== undefined) {
      const patched = applyMergePatch(this.get(resource, name), write.patch) as KubeObject
      const { deletionTimestamp: isDeleted, finalizers = [] } = patched.metadata
      const isGone = isDeleted !== undefined && finalizers.length === 0
      changes.push(this.#set(resource, name, isGone ? undefined : patched))
    }
    if (write.verb === 'delete') changes.push(this.remove(resource, name))
    return changes
  }

  store<T extends KubeObject>(
    resource: Resource<T>,
    base: Store<T>,
    indexes: Readonly<Record<string, IndexFunction<T>>> = {},
  ): Store<T> {
    const name = resourceKey(resource)
    const changed = this.#changed.get(name) ?? new Map<ObjectKey, KubeObject | undefined>()
    this.#changed.set(name, changed)
    // Whoever changes an object says of which resource it is, and so of which type.
    return overlaid(base, changed as ReadonlyMap<ObjectKey, T | undefined>, indexes)
  }

  #set(resource: Resource, name: ObjectName, object: KubeObject | undefined): ObjectChange {
    const key = objectKeyOf(name)
    const old = this.get(resource, name)
    const changed = this.#changed.get(resourceKey(resource)) ?? new Map<ObjectKey, KubeObject | undefined>()
    this.#changed.set(resourceKey(resource), changed.set(key, object))
    return { key, old, new: object, initial: false }
  }
}

function overlaid<T extends KubeObject>(
  base: Store<T>,
  changed: ReadonlyMap<ObjectKey, T | undefined>,
  indexes: Readonly<Record<string, IndexFunction<T>>>,
): Store<T> {
  const present = () => [...changed.values()].filter((object) => object !== undefined)
  const isUnchanged = ({ metadata }: T) => !changed.has(objectKeyOf(metadata))
  return {
    get: (key) => (changed.has(key) ? changed.get(key) : base.get(key)),
    find: (index, value) => [
      ...base.find(index, value).filter(isUnchanged),
      ...present().filter((object) => indexes[index]?.(object).includes(value) === true),
    ],
    *values() {
      for (const object of base.values()) if (isUnchanged(object)) yield object
      yield* present()
    },
    get size() {
      return [...this.values()].length
    },
  }
}
