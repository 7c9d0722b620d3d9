import { kubectlAnnotations } from '@kube-ovn/annotations'
import type { ManifestObject } from '@kube-ovn/assembly-controller'
import {
  applyMergePatch,
  KubeAlreadyExistsError,
  KubeNotFoundError,
  type KubeObject,
  type Resource,
} from '@kube-ovn/kube'
import type { Cluster } from '../cluster.ts'
import { UsageError } from '../errors.ts'
import { fieldsOf } from './manifest.ts'

interface ApiResources {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
  }[]
}

/** Finds out what objects would be after `kubectl apply`, by the API server's dry run. */
export class Appliance {
  readonly #cluster: Cluster
  readonly #namespace: string
  readonly #groups = new Map<string, Promise<ApiResources>>()

  /** @param namespace of objects without one */
  constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster
    this.#namespace = namespace
  }

  /** @throws UsageError of a kind that the server has not */
  async resourceOf({ apiVersion, kind }: ManifestObject): Promise<Resource> {
    const [version = '', group = ''] = apiVersion.split('/').toReversed()
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const answer = this.#groups.get(path) ?? this.#read(path)
    this.#groups.set(path, answer)
    const { resources } = await answer
    const found = resources.find((one) => one.kind === kind && !one.name.includes('/'))
    if (found === undefined)
      throw new UsageError('kind', `${apiVersion} ${kind}`, 'write one of: kubectl api-resources')
    return { group, version, kind, plural: found.name, namespaced: found.namespaced }
  }

  async #read(path: string): Promise<ApiResources> {
    try {
      return JSON.parse(await this.#cluster.client.read(path)) as ApiResources
    } catch (error) {
      if (error instanceof KubeNotFoundError) return { resources: [] }
      throw error
    }
  }

  /** The object with the namespace that it would be in. */
  placed(object: ManifestObject, resource: Resource): ManifestObject {
    if (!resource.namespaced) return object
    return {
      ...object,
      metadata: { ...object.metadata, namespace: object.metadata.namespace ?? this.#namespace },
    }
  }

  /** The object as it would be: checked, with what the server adds to it. */
  async applied(object: ManifestObject, resource: Resource): Promise<ManifestObject> {
    const { client } = this.#cluster
    const { apiVersion, kind } = object
    const current = await client.get(resource, object.metadata)
    const named = <T extends KubeObject>(answer: T): ManifestObject => ({ ...answer, apiVersion, kind })
    if (current !== undefined) {
      const options = { dryRun: true, fieldManager: 'kubectl-ko' }
      const patch = patchOf(object, current)
      const type = 'application/merge-patch+json'
      return named(await client.patch(resource, object.metadata, type, patch, options))
    }
    try {
      return named(await client.create(resource, object, { dryRun: true }))
    } catch (error) {
      if (error instanceof KubeNotFoundError) return this.#appliedElsewhere(object, resource)
      throw error
    }
  }

  /** Its namespace would come with the same manifest: the server checks it in another one. */
  async #appliedElsewhere(object: ManifestObject, resource: Resource): Promise<ManifestObject> {
    const elsewhere = { ...object, metadata: { ...object.metadata, namespace: 'default' } }
    try {
      const answer = await this.#cluster.client.create(resource, elsewhere, { dryRun: true })
      return { ...answer, ...object, metadata: { ...answer.metadata, ...object.metadata }, ...specOf(answer) }
    } catch (error) {
      if (error instanceof KubeAlreadyExistsError || error instanceof KubeNotFoundError) return object
      throw error
    }
  }
}

function specOf(object: KubeObject): object {
  return 'spec' in object ? { spec: object.spec } : {}
}

/** What the manifest says, and the removal of what it said last and says no more. */
export function patchOf(object: KubeObject, current: KubeObject): unknown {
  const text = current.metadata.annotations?.[kubectlAnnotations.lastApplied]
  return text === undefined ? object : applyMergePatch(removals(JSON.parse(text), object), object)
}

/** A merge patch that takes away what is in one object and not in the other. */
function removals(before: unknown, now: unknown): Readonly<Record<string, unknown>> {
  const [old, present] = [fieldsOf(before), fieldsOf(now)]
  return Object.fromEntries(
    Object.entries(old).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      if (!Object.hasOwn(present, key)) return [[key, null]]
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
      const inner = removals(value, present[key])
      return Object.keys(inner).length === 0 ? [] : [[key, inner]]
    }),
  )
}
