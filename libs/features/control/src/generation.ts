import type { KubeObject, Resource } from '@kube-ovn/kube'
import type { ControlWorld } from './world.ts'

/** The part of a status that says which specification it is about. */
export interface Observed {
  readonly observedGeneration?: number
}

type Content = Readonly<Record<string, unknown>>

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
export function generationAfter(object: KubeObject, content: Content): number | undefined {
  const { generation } = object.metadata
  if (generation === undefined) return undefined
  return hasContent(object, content) ? generation : generation + 1
}

/** Whether an object has all of a merge patch (RFC 7386) already. */
export function hasContent(present: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true
  if (wanted === null) return present === undefined || present === null
  if (!isFields(wanted)) return JSON.stringify(present) === JSON.stringify(wanted)
  return isFields(present) && Object.entries(wanted).every(([key, value]) => hasContent(present[key], value))
}

function isFields(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
