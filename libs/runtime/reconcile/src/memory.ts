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
  /** Where each of these stands. */
  readonly places: readonly Place[]
  readonly claims: readonly MapMember[]
}

/** What a key wants an entry to be. */
interface Claim {
  readonly owner: OwnerMark
  readonly value: MapMember['value']
}

type Claims = Map<OwnerMark, MapMember['value']>

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
    this.#places ??= new Set([...this.#wanted.values()].flatMap((one) => foreignOf(one).places))
    return this.#places.has(place)
  }
}

const unknown: Known = { ids: [], references: [], members: [], places: [], claims: [] }

/**
 * Remembers what each key wanted last: which rows, which rows of others it referred to, and which values and entries it
 * contributed that are not rows of its own and therefore carry no mark of it.
 */
export class Memory {
  readonly #known = new Map<OwnerMark, Known>()
  readonly #holders = new Map<IdMark, OwnerMark>()
  readonly #referrers = new MultiMap<IdMark, OwnerMark>()
  readonly #contributors = new MultiMap<Place, OwnerMark>()
  /** For each entry, what keys want it to be: the same, or it would not have been planned. Most are wanted by one. */
  readonly #claims = new Map<Place, Claim | Claims>()
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

  /** Whether any key contributes something there. */
  isContributed(place: Place): boolean {
    return this.#contributors.hasKey(place)
  }

  /** What keys want an entry to be. */
  claimsOn(place: Place): ReadonlyMap<OwnerMark, MapMember['value']> {
    const claims = this.#claims.get(place)
    if (claims === undefined) return noClaims
    return claims instanceof Map ? claims : new Map([[claims.owner, claims.value]])
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
    return this.#lost(owner, desired).flatMap(({ member, place }) => {
      if (batch?.wants(place) === true) return []
      const others = [...this.#contributors.get(place)]
      return others.every((other) => other === owner || batch?.has(other) === true) ? [member] : []
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
    const { members, places } = foreignOf(desired)
    const kept = isSettled ? none : [...this.released(owner, desired), ...replaced(last.members, members)]
    const next: Known = {
      ids: desired.rows.map((row) => idMark({ kind: row.kind.name, id: row.id })),
      references: references.map(({ ref }) => idMark(ref)),
      members: kept.length === 0 ? members : [...members, ...kept],
      places: kept.length === 0 ? places : [...places, ...kept.map(placeOf)],
      claims: members.some(isEntry) ? members.filter(isEntry) : none,
    }
    this.#stopWaiting(owner)
    // A key that wants what it wanted before, as most do that are looked at again, leaves everything as it is.
    if (this.#isKept(last, next)) return unchanged
    this.#drop(owner, last)
    this.#keep(owner, compact(next))
    return {
      abandoned: last.ids.filter((id) => !this.#holders.has(id)),
      freed: last.claims.flatMap((entry) => this.#freedBy(owner, entry)),
    }
  }

  /** Whether a key contributed what it does not want any more, be it that others do. */
  letsGo(owner: OwnerMark, desired: Contribution): boolean {
    return this.#lost(owner, desired).length > 0
  }

  owners(): Iterable<OwnerMark> {
    return this.#known.keys()
  }

  /** What the key contributed before, and does not want any more. */
  #lost(
    owner: OwnerMark,
    desired: Contribution,
  ): readonly { readonly member: Member; readonly place: Place }[] {
    const last = this.#known.get(owner)
    if (last === undefined || last.members.length === 0) return none
    const { places } = foreignOf(desired)
    if (isSameList(last.places, places)) return none
    const wanted = new Set(places)
    return last.members.flatMap((member, n) => {
      const place = last.places[n]
      return place === undefined || wanted.has(place) ? [] : [{ member, place }]
    })
  }

  /** Whether a key wants what it wanted, and nobody has let go of a row that it wants, too. */
  #isKept(last: Known, next: Known): boolean {
    return (
      isSameList(last.ids, next.ids) &&
      isSameList(last.references, next.references) &&
      isSameList(last.places, next.places) &&
      last.claims.length === next.claims.length &&
      last.claims.every(({ value }, n) => valueToken(value) === valueToken(next.claims[n]?.value)) &&
      next.ids.every((id) => this.#holders.has(id))
    )
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
    for (const place of known.places) this.#contributors.add(place, owner)
    for (const entry of known.claims) {
      const { value } = entry
      const place = placeOf(entry)
      const claims = this.#claims.get(place)
      if (claims instanceof Map) claims.set(owner, value)
      else if (claims === undefined || claims.owner === owner) this.#claims.set(place, { owner, value })
      else this.#claims.set(place, new Map([[claims.owner, claims.value]]).set(owner, value))
    }
    const isEmpty = known.ids.length + known.references.length + known.members.length === 0
    if (isEmpty) this.#known.delete(owner)
    else this.#known.set(owner, known)
  }

  #drop(owner: OwnerMark, known: Known): void {
    for (const id of known.ids) if (this.#holders.get(id) === owner) this.#holders.delete(id)
    for (const id of known.references) this.#referrers.delete(id, owner)
    for (const place of known.places) this.#contributors.delete(place, owner)
    for (const entry of known.claims) {
      const place = placeOf(entry)
      const claims = this.#claims.get(place)
      if (claims instanceof Map) claims.delete(owner)
      const isLast = claims instanceof Map ? claims.size === 0 : claims?.owner === owner
      if (isLast) this.#claims.delete(place)
    }
  }
}

const none: readonly never[] = []

/** There are as many of them as there are keys, and most have lists that are empty. */
function compact({ ids, references, members, places, claims }: Known): Known {
  const kept = fit(members)
  return {
    ids: fit(ids),
    references: fit(references),
    members: kept,
    places: fit(places),
    claims: claims.length === kept.length && kept.every(isEntry) ? kept : fit(claims),
  }
}

/** A list that came of `flatMap` or `filter` has room for many more. */
function fit<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? none : [...list]
}
const unchanged: Remembered = { abandoned: none, freed: none }
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

/** What a key contributes that is no row of its own, and where each of it stands. */
interface Foreign {
  readonly members: readonly Member[]
  readonly places: readonly Place[]
}

/** A contribution is asked for several times on its way through a plan, and never changed. */
const foreign = new WeakMap<Contribution, Foreign>()

function foreignOf(desired: Contribution): Foreign {
  return foreign.getOrInsertComputed(desired, () => {
    const members = foreignMembers(desired)
    return { members, places: members.map(placeOf) }
  })
}

function foreignMembers({ rows, members }: Contribution): readonly Member[] {
  if (members.length === 0) return none
  const isOwn = namesOneOf(rows)
  return members.filter((member) => isEntry(member) || !isRef(member.value) || !isOwn(member.value))
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, n) => one === b[n])
}
