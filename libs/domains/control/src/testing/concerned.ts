import type { KubeObject, Resource } from '@kube-ovn/kube'
import type { Feature, Key } from '@kube-ovn/reconcile'
import type { ControlWorld } from '../world.ts'

/** The keys of a feature that an edit of an object concerns. */
export function concerned<K extends Key>(
  { triggers }: Pick<Feature<K, unknown, ControlWorld>, 'triggers'>,
  resource: Resource,
  old: KubeObject,
  now: KubeObject,
  world: ControlWorld,
): readonly K[] {
  const change = { key: now.metadata.name, old, new: now }
  return triggers.flatMap((trigger) =>
    trigger.on === 'object' && trigger.resource === resource ? [...trigger.keys(change as never, world)] : [],
  )
}
