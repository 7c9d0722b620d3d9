import type { Desired, Feature, Key, MapMember } from './feature.ts'
import type { Lack } from './contention.ts'
import { EntryClaimedTwiceError } from './errors.ts'
import type { BasedPatch } from './list-writes.ts'
import { idMark, parseOwnerMark, type OwnerMark } from './marks.ts'
import type { Batch, Memory } from './memory.ts'
import { isEntry, placeOf } from './places.ts'
import { haveUnmarked } from './unmarked.ts'
import { isRef } from './values.ts'
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
  /** Entries that it can not have at present; they are not among the desired ones any more. */
  readonly lacks?: readonly Lack[]
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
  const { snapshot, desired } = read(feature.name, key, () => decide(feature, key, world))
  const patches = desired.patches.map((patch): BasedPatch => {
    const basis = objects.store(patch.resource)?.get(objectKeyOf(patch))
    return { ...patch, basis }
  })
  return { owner, feature, key, isGone: snapshot === undefined, desired, patches }
}

/** Observes, takes what there is only once, and decides. What was taken is given back when the decision fails. */
export function decide<S, W, O>(
  feature: Pick<Feature<Key, S, W, O>, 'observe' | 'allocate' | 'desired'>,
  key: Key,
  world: W,
): { readonly snapshot: S | undefined; readonly desired: Desired } {
  const observed = feature.observe(key, world)
  if (feature.allocate === undefined) {
    // Without an allocation the observed is the snapshot.
    const snapshot = observed as S | undefined
    return { snapshot, desired: feature.desired(key, snapshot) }
  }
  const { snapshot, undo } = feature.allocate(key, observed, world)
  try {
    return { snapshot, desired: feature.desired(key, snapshot) }
  } catch (error) {
    undo()
    throw error
  }
}

/** What a job wants; with what earlier ones wanted, also what it lets go. */
export function wantOf<W>(
  { owner, feature, key, desired }: Job<W>,
  earlier?: { readonly memory: Memory; readonly batch: Batch },
): Want {
  const { kinds, memberships = [] } = feature
  const released = [
    ...(earlier?.memory.released(owner, desired, earlier.batch) ?? []),
    ...withdrawnBy(owner, desired, earlier?.memory),
  ]
  const want: Want = {
    ...{ owner, kinds, memberships, desired, released },
    ...(feature.mayOwn === undefined ? {} : { mayOwn: (ref) => feature.mayOwn?.(key, ref) ?? true }),
  }
  return earlier === undefined || !haveUnmarked(kinds)
    ? want
    : { ...want, unmarked: earlier.memory.idsOf(owner) }
}

/** What no other key contributes of it. */
function withdrawnBy(
  owner: OwnerMark,
  { withdrawn = [] }: Desired,
  memory: Memory | undefined,
): readonly MapMember[] {
  return withdrawn.filter((entry) =>
    [...(memory?.contributorsOf(placeOf(entry)) ?? [])].every((other) => other === owner),
  )
}

/** The job without entries that it can not have. Those that another key has are a problem of its own. */
export function lacking<W>(job: Job<W>, lacks: readonly Lack[] | undefined): Job<W> {
  if (lacks === undefined) return job
  const { owner, desired } = job
  const places = new Set(lacks.map(({ entry }) => placeOf(entry)))
  const members = desired.members.filter((member) => !isEntry(member) || !places.has(placeOf(member)))
  const refused = lacks.find(({ holder }) => holder !== undefined)
  const problem = desired.problem ?? (refused === undefined ? undefined : refusalOf(owner, refused))
  return { ...job, desired: { ...desired, members, ...(problem === undefined ? {} : { problem }) }, lacks }
}

function refusalOf(owner: OwnerMark, { entry, holder = '' }: Lack): EntryClaimedTwiceError {
  const { of, column, key, value } = entry
  const shown = isRef(value) ? idMark(value) : String(value ?? '')
  return new EntryClaimedTwiceError(`${idMark(of)} ${column}:${key}`, shown, owner, holder)
}
