import type { Desired, Feature, Key } from './feature.ts'
import type { BasedPatch } from './list-writes.ts'
import { parseOwnerMark, type OwnerMark } from './marks.ts'
import type { Batch, Memory } from './memory.ts'
import { objectKeyOf, type Objects } from './objects.ts'
import type { Want } from './want.ts'

type AnyFeature<W> = Feature<Key, unknown, W>

/** A key that has been observed, and what it wants. */
export interface Job<W> {
  readonly owner: OwnerMark
  readonly feature: AnyFeature<W>
  readonly key: Key
  readonly isGone: boolean
  readonly desired: Desired
  /** The patches of the desired state, with the objects as they were when it was decided. */
  readonly patches: readonly BasedPatch[]
}

export function findFeature<W>(
  owner: OwnerMark,
  features: ReadonlyMap<string, AnyFeature<W>>,
): { readonly feature: AnyFeature<W>; readonly key: Key } | undefined {
  const mark = parseOwnerMark(owner)
  const feature = mark === undefined ? undefined : features.get(mark.feature)
  return mark === undefined || feature === undefined ? undefined : { feature, key: mark.key }
}

interface Observation<W> {
  readonly world: W
  readonly objects: Pick<Objects, 'store'>
  /** Runs what observes a key, and notes what it reads of derived tables. Absent: nobody asks what it read. */
  readonly read?: <R>(feature: string, key: Key, observe: () => R) => R
}

/** Observes and decides. Throws what the feature throws. */
export function observeKey<W>(
  owner: OwnerMark,
  feature: AnyFeature<W>,
  key: Key,
  { world, objects, read = (_feature, _key, observe) => observe() }: Observation<W>,
): Job<W> {
  const snapshot = read(feature.name, key, () => feature.observe(key, world))
  const desired = feature.desired(key, snapshot)
  const patches = desired.patches.map((patch): BasedPatch => {
    const basis = objects.store(patch.resource)?.get(objectKeyOf(patch))
    return { ...patch, basis }
  })
  return { owner, feature, key, isGone: snapshot === undefined, desired, patches }
}

export function wantOf<W>({ owner, feature, desired }: Job<W>, memory: Memory, batch?: Batch): Want {
  const { kinds, memberships = [] } = feature
  return { owner, kinds, memberships, desired, released: memory.released(owner, desired, batch) }
}
