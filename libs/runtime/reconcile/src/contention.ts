import type { MapMember } from './feature.ts'
import type { OwnerMark } from './marks.ts'
import { isEntry, placeOf, valueToken, type Place } from './places.ts'
import type { Want } from './want.ts'

/** What is known of an entry. */
export interface EntryLookup {
  /** What keys of earlier plans want the entry to be. */
  claimsOn(place: Place): ReadonlyMap<OwnerMark, MapMember['value']>
  /** How the database stands to what a key wants the entry to be. */
  compare(entry: MapMember): 'equal' | 'different' | 'absent'
  /** Who has to be heard before it is clear that an entry which the database has is nobody's; `undefined` when nobody. */
  unheard(entry: MapMember): string | undefined
}

/** An entry that a key wants and can not have at present. */
export interface Lack {
  readonly entry: MapMember
  /** The key that has it, and wants it to be another one. */
  readonly holder?: OwnerMark
  /** Who has to be heard before it is known whose it is. */
  readonly unheard?: string
}

/** What each key must do without. */
export type Lacks = ReadonlyMap<OwnerMark, readonly Lack[]>

/**
 * Decides which key has an entry of a map that several want to be different.
 *
 * Who had it keeps it: by what was wanted before, and after a restart by what the database has. Otherwise it is the first by name.
 */
export function contend(wants: readonly Pick<Want, 'owner' | 'desired'>[], lookup: EntryLookup): Lacks {
  const contenders = wants.flatMap(({ owner, desired }): readonly Contender[] =>
    desired.members.filter(isEntry).map((entry) => ({ owner, entry })),
  )
  const rivals = Map.groupBy(contenders, ({ entry }) => placeOf(entry))
  const lacks = new Map<OwnerMark, Lack[]>()
  if (rivals.size === 0) return lacks
  const planned = new Set(wants.map(({ owner }) => owner))
  for (const [place, some] of rivals) {
    for (const [owner, lack] of lacksAt(place, some, planned, lookup))
      lacks.getOrInsertComputed(owner, () => []).push(lack)
  }
  return lacks
}

interface Contender {
  readonly owner: OwnerMark
  readonly entry: MapMember
}

function lacksAt(
  place: Place,
  contenders: readonly Contender[],
  planned: ReadonlySet<OwnerMark>,
  lookup: EntryLookup,
): readonly (readonly [OwnerMark, Lack])[] {
  const claims = lookup.claimsOn(place)
  // Of the keys of the plan it counts what they want now.
  const living = [...claims].find(([owner]) => !planned.has(owner))
  if (living !== undefined) return refusals(contenders, living[0], living[1])
  const rank = ({ owner, entry }: Contender) =>
    (claims.has(owner) ? 0 : 2) + (lookup.compare(entry) === 'equal' ? 0 : 1)
  const [first] =
    contenders.length === 1
      ? contenders
      : contenders.toSorted((a, b) => rank(a) - rank(b) || (a.owner < b.owner ? -1 : 1))
  if (first === undefined) return []
  const unheard =
    claims.size === 0 && lookup.compare(first.entry) === 'different' ? lookup.unheard(first.entry) : undefined
  return unheard === undefined
    ? refusals(contenders, first.owner, first.entry.value)
    : contenders.map(({ owner, entry }) => [owner, { entry, unheard }])
}

function refusals(
  contenders: readonly Contender[],
  holder: OwnerMark,
  value: MapMember['value'],
): readonly (readonly [OwnerMark, Lack])[] {
  const token = valueToken(value)
  return contenders
    .filter(({ entry }) => valueToken(entry.value) !== token)
    .map(({ owner, entry }) => [owner, { entry, holder }])
}
