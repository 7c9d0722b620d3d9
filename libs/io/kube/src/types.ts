import type { KubeObject } from '@kube-ovn/kube-api/core'

export type { KubeObject, ObjectMeta, OwnerReference, Resource } from '@kube-ovn/kube-api/core'

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
