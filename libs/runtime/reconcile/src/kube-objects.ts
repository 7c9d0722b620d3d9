import {
  applyMergePatch,
  type JsonValue,
  type KubeClient,
  type KubeObject,
  type ObjectChange,
  type ObjectRef,
  type Removal,
  type Resource,
  type Store,
} from '@kube-ovn/kube'
import { fieldManager } from './applied.ts'
import type { KubeEvent } from './feature.ts'
import { objectKeyOf, resourceKey, type Objects } from './objects.ts'

/** An informer, whatever the type of its objects: it is only given objects of its own resource. */
export interface AnyInformer {
  readonly resource: Resource
  /** The only one that it watches. */
  readonly namespace?: string | undefined
  readonly store: Store<KubeObject>
  onChange(listener: (change: ObjectChange) => void): Disposable
  trimmed(object: KubeObject): KubeObject
  observe(object: KubeObject): void
  observeRemoval(ref: ObjectRef, uid: string, removal: Removal<KubeObject>): void
}

export interface KubeObjectsOptions {
  readonly client: KubeClient
  /** One for each resource that triggers or patches name. */
  readonly informers: readonly AnyInformer[]
  /** Sends an event, if it was not sent before. */
  readonly record: (event: KubeEvent) => void
}

/** The API server behind {@link Objects}: the answer to every write enters the informer's store at once. */
export function kubeObjects({ client, informers, record }: KubeObjectsOptions): Objects {
  const byResource = new Map(informers.map((informer) => [resourceKey(informer.resource), informer]))
  function informerOf(resource: Resource): AnyInformer | undefined {
    return byResource.get(resourceKey(resource))
  }
  return {
    resources: informers.map((informer) => informer.resource),
    store: (resource) => informerOf(resource)?.store,
    trim: (resource, object) => informerOf(resource)?.trimmed(object) ?? object,
    onChange(listener) {
      const stack = new DisposableStack()
      for (const informer of informers) {
        stack.use(informer.onChange((change: ObjectChange) => listener(informer.resource, change)))
      }
      return stack
    },
    async create(resource, object) {
      informerOf(resource)?.observe(await client.create(resource, object))
    },
    async patch(resource, { name, namespace }, patch, { subresource, uid }) {
      const ref = namespace === undefined ? { name } : { name, namespace }
      const options = subresource === undefined ? {} : { subresource }
      const body = uid === undefined ? patch : (applyMergePatch(patch, { metadata: { uid } }) as JsonValue)
      informerOf(resource)?.observe(
        await client.patch(resource, ref, 'application/merge-patch+json', body, options),
      )
    },
    async apply(resource, configuration) {
      const { group, version, kind } = resource
      const apiVersion = group === '' ? version : `${group}/${version}`
      const applied = await client.patch(
        resource,
        configuration.metadata,
        'application/apply-patch+yaml',
        { apiVersion, kind, ...configuration },
        { fieldManager, force: true },
      )
      informerOf(resource)?.observe(applied)
      return applied
    },
    async remove(resource, { name, namespace }, uid) {
      const ref = namespace === undefined ? { name } : { name, namespace }
      const removal = await client.remove(resource, ref, { preconditions: { uid } })
      informerOf(resource)?.observeRemoval(ref, uid, removal)
    },
    async refresh(resource, { name, namespace }) {
      const ref = namespace === undefined ? { name } : { name, namespace }
      const informer = informerOf(resource)
      const known = informer?.store.get(objectKeyOf(ref))
      const object = await client.get(resource, ref)
      if (object !== undefined) informer?.observe(object)
      else if (known !== undefined) {
        informer?.observeRemoval(ref, known.metadata.uid ?? '', { isGone: true, object: undefined })
      }
    },
    record,
  }
}
