import { MultiMap } from '@kube-ovn/collections'
import { UnknownIndexError } from './errors.ts'
import type { KubeObject, ObjectKey, Store } from './types.ts'

/** Values under which an object is found in one index. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[]

/** The key of an object: `namespace/name`, or `name` for what is cluster-scoped. */
export function objectKey(object: KubeObject): ObjectKey {
  const { namespace, name } = object.metadata
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

interface Index<T extends KubeObject> {
  readonly valuesOf: IndexFunction<T>
  readonly keys: MultiMap<string, ObjectKey>
}

/** The store of an informer: objects by key, and by the values that index functions give. */
export class IndexedStore<T extends KubeObject> implements Store<T> {
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indexes = new Map<string, Index<T>>()

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    for (const [name, valuesOf] of Object.entries(indexes)) {
      this.#indexes.set(name, { valuesOf, keys: new MultiMap() })
    }
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key)
  }

  values(): MapIterator<T> {
    return this.#objects.values()
  }

  entries(): MapIterator<[ObjectKey, T]> {
    return this.#objects.entries()
  }

  find(index: string, value: string): readonly T[] {
    const keys = this.#indexes.get(index)?.keys
    if (keys === undefined) {
      throw new UnknownIndexError('Store has no such index', { index, known: [...this.#indexes.keys()] })
    }
    const found: T[] = []
    for (const key of keys.get(value)) {
      const object = this.#objects.get(key)
      if (object !== undefined) found.push(object)
    }
    return found
  }

  /** Takes an object in, or another state of it. */
  put(key: ObjectKey, object: T): void {
    const old = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const { valuesOf, keys } of this.#indexes.values()) {
      if (old !== undefined) for (const value of valuesOf(old)) keys.delete(value, key)
      for (const value of valuesOf(object)) keys.add(value, key)
    }
  }

  delete(key: ObjectKey): void {
    const old = this.#objects.get(key)
    if (old === undefined) return
    this.#objects.delete(key)
    for (const { valuesOf, keys } of this.#indexes.values()) {
      for (const value of valuesOf(old)) keys.delete(value, key)
    }
  }
}
