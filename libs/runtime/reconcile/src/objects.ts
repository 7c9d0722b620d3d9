import type { JsonValue, KubeObject, ObjectChange, ObjectKey, Resource, Store } from '@kube-ovn/kube'
import type { Configuration } from './applied.ts'
import type { KubeEvent } from './feature.ts'

export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/** The API server as the kernel uses it: stores of what is watched, and writes whose answers enter the stores. */
export interface Objects {
  /** Resources that are watched. */
  readonly resources: readonly Resource[]
  /** `undefined` when the resource is not watched. */
  store(resource: Resource): Store<KubeObject> | undefined
  /** What a store keeps of an object. */
  trim(resource: Resource, object: KubeObject): KubeObject
  onChange(listener: (resource: Resource, change: ObjectChange) => void): Disposable
  create(resource: Resource, object: KubeObject): Promise<void>
  /** Sends a merge patch (RFC 7386) for the object of this `uid`, and no later one of the same name. */
  patch(
    resource: Resource,
    name: ObjectName,
    patch: JsonValue,
    options: { readonly subresource: string | undefined; readonly uid: string | undefined },
  ): Promise<void>
  /** Sends an apply patch that takes what it names from other managers. Answers the whole object. */
  apply(resource: Resource, configuration: Configuration): Promise<KubeObject>
  /** Deletes the object of this `uid`, and no later one of the same name. */
  remove(resource: Resource, name: ObjectName, uid: string): Promise<void>
  /** Reads an object afresh into its store. */
  refresh(resource: Resource, name: ObjectName): Promise<void>
  record(event: KubeEvent): void
}

/** Tells resources apart: versions of one resource are the same objects. */
export function resourceKey(resource: Resource): string {
  return `${resource.plural}.${resource.group}`
}

export function objectKeyOf({ namespace, name }: ObjectName): ObjectKey {
  return namespace === undefined ? name : `${namespace}/${name}`
}
