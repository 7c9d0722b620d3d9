/** A kind of the API as a client needs it. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** Carries the object type only. */
  readonly object?: T
}

export interface ObjectMeta {
  readonly name: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  /** Who set which field; informers leave it out. */
  readonly managedFields?: readonly unknown[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** `namespace/name`, or `name` for what is cluster-scoped. */
export type ObjectKey = string

/** Names one object of a resource. */
export interface ObjectRef {
  readonly namespace?: string
  readonly name: string
}

export interface ObjectChange<T extends KubeObject = KubeObject> {
  readonly key: ObjectKey
  readonly old: T | undefined
  readonly new: T | undefined
  /** The change stems from the initial list. */
  readonly initial: boolean
}

/** Objects of one kind as last seen. Objects are never changed in place. */
export interface Store<T extends KubeObject> {
  get(key: ObjectKey): T | undefined
  /** Objects to which the named index function gave `value`. */
  find(index: string, value: string): readonly T[]
  values(): Iterable<T>
  readonly size: number
}

/** The ways to change an object partially. JSON is YAML, so an apply patch is sent as JSON too. */
export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml'

export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }
