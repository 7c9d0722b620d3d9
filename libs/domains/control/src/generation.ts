import type { KubeObject, MergeFragment, Resource } from '@kube-ovn/kube'
import { hasContent } from '@kube-ovn/reconcile'
import type { ControlWorld } from './world.ts'

/** The part of a status that says which specification it is about. */
export interface Observed {
  readonly observedGeneration?: number
}

/**
 * What the status says once everything is written, of a kind whose status counts for itself.
 *
 * @param object absent before it is created
 * @param writesSpec whether the controller writes the specification, too, which makes another generation of it
 */
export function observedOf(
  resource: Resource,
  object: KubeObject | undefined,
  world: Pick<ControlWorld, 'definitions'>,
  writesSpec = false,
): Observed {
  const generation = object === undefined ? 0 : object.metadata.generation
  if (generation === undefined || !world.definitions.keeps(resource, 'observedGeneration')) return {}
  return { observedGeneration: generation + (writesSpec || object === undefined ? 1 : 0) }
}

/**
 * The generation that an object has once `content` is written to it, of a kind whose status is a part of it like any
 * other: every write of ours makes another generation then, and is to say that it knows of that.
 */
export function generationAfter(object: KubeObject, content: MergeFragment): number | undefined {
  const { generation } = object.metadata
  if (generation === undefined) return undefined
  return hasContent(object, content) ? generation : generation + 1
}
