import { MultiMap } from '@kube-ovn/collections'
import type { Desired, MapMember, Member } from './feature.ts'
import { idMark, type IdMark, type OwnerMark } from './marks.ts'
import { isEntry, placeOf, valueToken, type Place } from './places.ts'
import { isRef } from './values.ts'
import { namesOneOf, type Reference } from './want.ts'

interface Known {
  readonly ids: readonly IdMark[]
  readonly references: readonly IdMark[]
  /** What it contributes, and what it has yet to take back. */
  readonly members: readonly Member[]
  readonly claims: readonly MapMember[]
}

/** What follows from what a key wants now, and did not want before. */
interface Remembered {
  /** Rows that nobody wants any more. */
  readonly abandoned: readonly IdMark[]
  /** Keys that could not have an entry, and now may. */
  readonly freed: readonly OwnerMark[]
}

type Contribution = Pick<Desired, 'rows' | 'members'>

/** What the keys that are planned together want. */
export class Batch {
  readonly #wanted: ReadonlyMap<OwnerMark, Contribution>
  #places: ReadonlySet<Place> | undefined

  constructor(wanted: Iterable<readonly [OwnerMark, Contribution]>) {
    this.#wanted = new Map(wanted)
  }

  has(owner: OwnerMark): boolean {
    return this.#wanted.has(owner)
  }

  /** Whether any of the keys contributes something there. */
  wants(place: Place): boolean {
    this.#places ??= new Set([...this.#wanted.values()].flatMap((one) => [...placesOf(one)]))
    return this.#places.has(place)
  }
}

const unknown: Known = { ids: [], references: [], members: [], claims: [] }

/**
 * Remembers what each key wanted last: which rows, which rows of others it referred to, and which values and entries it
 * contributed that are not rows of its own and therefore carry no mark of it.
 */
export class Memory {
  readonly #known = new Map<OwnerMark, Known>()
  readonly #holders = new Map<IdMark, OwnerMark>()
  readonly #referrers = new MultiMap<IdMark, OwnerMark>()
  readonly #contributors = new MultiMap<Place, OwnerMark>()
  /** For each entry, what keys want it to be: the same, or it would not have been planned. */
  readonly #claims = new Map<Place, Map<OwnerMark, MapMember['value']>>()
  /** Keys that wait for an entry which another key has. */
  readonly #waiting = new MultiMap<Place, OwnerMark>()
  readonly #awaited = new Map<OwnerMark, readonly Place[]>()

  /** The key that wants a row. */
  holderOf(id: IdMark): OwnerMark | undefined {
    return this.#holders.get(id)
  }

  /** The rows that a key wants. */
  idsOf(owner: OwnerMark): readonly IdMark[] {
    return this.#known.get(owner)?.ids ?? none
  }

  /** Keys that want to refer to a row: they are concerned when it comes into being. */
  referrersOf(id: IdMark): ReadonlySet<OwnerMark> {
    return this.#referrers.get(id)
  }

  /** Keys that contribute something there which is not a row of theirs. */
  contributorsOf(place: Place): ReadonlySet<OwnerMark> {
    return this.#contributors.get(place)
  }

  /** What keys want an entry to be. */
  claimsOn(place: Place): ReadonlyMap<OwnerMark, MapMember['value']> {
    return this.#claims.get(place) ?? noClaims
  }

  /** Keeps in mind, until the key wants something else, that it waits for entries which others have. */
  awaitEntries(owner: OwnerMark, places: readonly Place[]): void {
    this.#stopWaiting(owner)
    this.#awaited.set(owner, places)
    for (const place of places) this.#waiting.add(place, owner)
  }

  /**
   * Values that the key contributed and does not want any more, as far as no other key does. Of the keys of `batch`
   * counts what they want now, not what they wanted: they may let a value go together, or hand it over.
   */
  released(owner: OwnerMark, desired: Contribution, batch?: Batch): readonly Member[] {
    const last = this.#known.get(owner)?.members ?? []
    if (last.length === 0) return []
    const wanted = placesOf(desired)
    return last.filter((member) => {
      const place = placeOf(member)
      if (wanted.has(place) || batch?.wants(place) === true) return false
      return [...this.#contributors.get(place)].every(
        (other) => other === owner || batch?.has(other) === true,
      )
    })
  }

  /**
   * Keeps what a key wants now. `isSettled` says that the database agrees; until then the values that it
   * contributed before are remembered, too, so that they are released later.
   */
  remember(
    owner: OwnerMark,
    desired: Contribution,
    references: readonly Reference[],
    isSettled: boolean,
  ): Remembered {
    const last = this.#known.get(owner) ?? unknown
    const members = foreignMembers(desired)
    const kept = isSettled ? none : [...this.released(owner, desired), ...replaced(last.members, members)]
    const next: Known = {
      ids: desired.rows.map((row) => idMark({ kind: row.kind.name, id: row.id })),
      references: references.map(({ ref }) => idMark(ref)),
      members: [...members, ...kept],
      claims: members.some(isEntry) ? members.filter(isEntry) : none,
    }
    this.#stopWaiting(owner)
    this.#drop(owner, last)
    this.#keep(owner, next)
    return {
      abandoned: last.ids.filter((id) => !this.#holders.has(id)),
      freed: last.claims.flatMap((entry) => this.#freedBy(owner, entry)),
    }
  }

  /** Whether a key contributed what it does not want any more, be it that others do. */
  letsGo(owner: OwnerMark, desired: Contribution): boolean {
    const last = this.#known.get(owner)?.members ?? none
    if (last.length === 0) return false
    const wanted = placesOf(desired)
    return last.some((member) => !wanted.has(placeOf(member)))
  }

  owners(): Iterable<OwnerMark> {
    return this.#known.keys()
  }

  /** Who waits for an entry that a key wants no more, or wants to be another one. */
  #freedBy(owner: OwnerMark, entry: MapMember): readonly OwnerMark[] {
    const place = placeOf(entry)
    const claims = this.claimsOn(place)
    const isSame = claims.has(owner) && valueToken(claims.get(owner)) === valueToken(entry.value)
    return isSame ? [] : [...this.#waiting.get(place)]
  }

  #stopWaiting(owner: OwnerMark): void {
    for (const place of this.#awaited.get(owner) ?? []) this.#waiting.delete(place, owner)
    this.#awaited.delete(owner)
  }

  #keep(owner: OwnerMark, known: Known): void {
    for (const id of known.ids) if (!this.#holders.has(id)) this.#holders.set(id, owner)
    for (const id of known.references) this.#referrers.add(id, owner)
    for (const member of known.members) this.#contributors.add(placeOf(member), owner)
    for (const entry of known.claims) {
      const place = placeOf(entry)
      const claims = this.#claims.get(place)
      if (claims === undefined) this.#claims.set(place, new Map([[owner, entry.value]]))
      else claims.set(owner, entry.value)
    }
    const isEmpty = known.ids.length + known.references.length + known.members.length === 0
    if (isEmpty) this.#known.delete(owner)
    else this.#known.set(owner, known)
  }

  #drop(owner: OwnerMark, known: Known): void {
    for (const id of known.ids) if (this.#holders.get(id) === owner) this.#holders.delete(id)
    for (const id of known.references) this.#referrers.delete(id, owner)
    for (const member of known.members) this.#contributors.delete(placeOf(member), owner)
    for (const entry of known.claims) {
      const place = placeOf(entry)
      const claims = this.#claims.get(place)
      claims?.delete(owner)
      if (claims?.size === 0) this.#claims.delete(place)
    }
  }
}

const none: readonly never[] = []
const noClaims: ReadonlyMap<OwnerMark, MapMember['value']> = new Map()

/** Entries that are wanted to be others now, and may still be what they were. */
function replaced(before: readonly Member[], now: readonly Member[]): readonly Member[] {
  const values = new Map(now.filter(isEntry).map((entry) => [placeOf(entry), valueToken(entry.value)]))
  if (values.size === 0) return none
  return before.filter((member) => {
    const value = isEntry(member) ? values.get(placeOf(member)) : undefined
    return value !== undefined && value !== valueToken(member.value)
  })
}

function placesOf(desired: Contribution): ReadonlySet<Place> {
  return new Set(foreignMembers(desired).map(placeOf))
}

function foreignMembers({ rows, members }: Contribution): readonly Member[] {
  if (members.length === 0) return []
  const isOwn = namesOneOf(rows)
  return members.filter((member) => isEntry(member) || !isRef(member.value) || !isOwn(member.value))
}
