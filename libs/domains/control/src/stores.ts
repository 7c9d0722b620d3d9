import type { KubeObject, Resource, Store } from '@kube-ovn/kube'
import { resourceKey } from '@kube-ovn/reconcile'
import type { Watch } from './declarations.ts'
import { UndeclaredWatchError } from './errors.ts'

/** The stores of all resources that are watched. */
export class Stores {
  readonly #byResource: ReadonlyMap<string, Store<KubeObject>>

  constructor(stores: Iterable<readonly [Resource, Store<KubeObject>]>) {
    this.#byResource = new Map(Array.from(stores, ([resource, store]) => [resourceKey(resource), store]))
  }

  find(resource: Resource): Store<KubeObject> | undefined {
    return this.#byResource.get(resourceKey(resource))
  }

  /** @throws UndeclaredWatchError when nobody declared the watch */
  of<T extends KubeObject>({ resource }: Pick<Watch<T>, 'resource'>): Store<T> {
    const store = this.find(resource)
    if (store === undefined) throw new UndeclaredWatchError(resourceKey(resource))
    // It was made for the watch of this resource.
    return store as Store<T>
  }
}
