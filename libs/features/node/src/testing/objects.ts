import { IndexedStore, type IndexFunction, type ObjectChange } from '@kube-ovn/kube'
import type { KubeObject } from '@kube-ovn/kube-api/core'

/** A cache of objects that a test fills by hand. */
export class Objects<T extends KubeObject> {
  readonly store: IndexedStore<T>
  readonly #listeners = new Set<(change: ObjectChange<T>) => void>()

  constructor(indexes?: Readonly<Record<string, IndexFunction<T>>>) {
    this.store = new IndexedStore<T>(indexes)
  }

  onChange(listener: (change: ObjectChange<T>) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  put(key: string, object: T | undefined): void {
    const old = this.store.get(key)
    if (object === undefined) this.store.delete(key)
    else this.store.put(key, object)
    for (const listener of this.#listeners) listener({ key, old, new: object, initial: false })
  }

  get listeners(): number {
    return this.#listeners.size
  }
}
