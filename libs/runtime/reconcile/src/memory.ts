import { MultiMap } from '@kube-ovn/collections'
import type { Desired, SetMember } from './feature.ts'
import { idMark, type IdMark, type OwnerMark } from './marks.ts'
import { isRef, tokenOf } from './values.ts'
import { namesOneOf, type Reference } from './want.ts'

interface Known {
  readonly ids: readonly IdMark[]
  readonly references: readonly IdMark[]
  readonly members: readonly SetMember[]
}

type Contribution = Pick<Desired, 'rows' | 'members'>

/** What the keys that are planned together want. */
export class Batch {
  readonly #wanted: ReadonlyMap<OwnerMark, Contribution>
  #places: ReadonlySet<string> | undefined

  constructor(wanted: Iterable<readonly [OwnerMark, Contribution]>) {
    this.#wanted = new Map(wanted)
  }

  has(owner: OwnerMark): boolean {
    return this.#wanted.has(owner)
  }

  /** Whether any of the keys contributes the value. */
  wants(place: string): boolean {
    this.#places ??= new Set([...this.#wanted.values()].flatMap((one) => [...placesOf(one)]))
    return this.#places.has(place)
  }
}

const unknown: Known = { ids: [], references: [], members: [] }

/**
 * Remembers what each key wanted last: which rows, which rows of others it referred to, and which values it
 * contributed that are not rows of its own and therefore carry no mark of it.
 */
export class Memory {
  readonly #known = new Map<OwnerMark, Known>()
  readonly #holders = new Map<IdMark, OwnerMark>()
  readonly #referrers = new MultiMap<IdMark, OwnerMark>()
  readonly #contributors = new MultiMap<string, OwnerMark>()

  /** The key that wants a row. */
  holderOf(id: IdMark): OwnerMark | undefined {
    return this.#holders.get(id)
  }

  /** Keys that want to refer to a row: they are concerned when it comes into being. */
  referrersOf(id: IdMark): ReadonlySet<OwnerMark> {
    return this.#referrers.get(id)
  }

  /** Keys that contribute a value, which is not a row of theirs, to a container's column. */
  contributorsOf(container: IdMark, column: string, value: SetMember['value']): ReadonlySet<OwnerMark> {
    return this.#contributors.get(placeOf(container, column, value))
  }

  /**
   * Values that the key contributed and does not want any more, as far as no other key does. Of the keys of `batch`
   * counts what they want now, not what they wanted: they may let a value go together, or hand it over.
   */
  released(owner: OwnerMark, desired: Contribution, batch?: Batch): readonly SetMember[] {
    const last = this.#known.get(owner)?.members ?? []
    if (last.length === 0) return []
    const wanted = placesOf(desired)
    return last.filter((member) => {
      const place = placeOfMember(member)
      if (wanted.has(place) || batch?.wants(place) === true) return false
      return [...this.#contributors.get(place)].every(
        (other) => other === owner || batch?.has(other) === true,
      )
    })
  }

  /**
   * Keeps what a key wants now. `isSettled` says that the database agrees; until then the values that it
   * contributed before are remembered, too, so that they are released later.
   *
   * @returns the rows that nobody wants any more
   */
  remember(
    owner: OwnerMark,
    desired: Contribution,
    references: readonly Reference[],
    isSettled: boolean,
  ): readonly IdMark[] {
    const last = this.#known.get(owner) ?? unknown
    const members = foreignMembers(desired)
    const kept = isSettled ? [] : this.released(owner, desired)
    const next: Known = {
      ids: desired.rows.map((row) => idMark({ kind: row.kind.name, id: row.id })),
      references: references.map(({ ref }) => idMark(ref)),
      members: [...members, ...kept],
    }
    this.#drop(owner, last)
    for (const id of next.ids) if (!this.#holders.has(id)) this.#holders.set(id, owner)
    for (const id of next.references) this.#referrers.add(id, owner)
    for (const member of next.members) this.#contributors.add(placeOfMember(member), owner)
    const isEmpty = next.ids.length + next.references.length + next.members.length === 0
    if (isEmpty) this.#known.delete(owner)
    else this.#known.set(owner, next)
    return last.ids.filter((id) => !this.#holders.has(id))
  }

  /** Whether a key contributes, or did, values that are not rows of its own. */
  contributes(owner: OwnerMark, desired: Contribution): boolean {
    return (this.#known.get(owner)?.members.length ?? 0) > 0 || foreignMembers(desired).length > 0
  }

  owners(): Iterable<OwnerMark> {
    return this.#known.keys()
  }

  #drop(owner: OwnerMark, known: Known): void {
    for (const id of known.ids) if (this.#holders.get(id) === owner) this.#holders.delete(id)
    for (const id of known.references) this.#referrers.delete(id, owner)
    for (const member of known.members) this.#contributors.delete(placeOfMember(member), owner)
  }
}

function placesOf(desired: Contribution): ReadonlySet<string> {
  return new Set(foreignMembers(desired).map(placeOfMember))
}

function foreignMembers({ rows, members }: Contribution): readonly SetMember[] {
  if (members.length === 0) return []
  const isOwn = namesOneOf(rows)
  return members.filter(
    (member): member is SetMember => 'of' in member && (!isRef(member.value) || !isOwn(member.value)),
  )
}

function placeOfMember(member: SetMember): string {
  return placeOf(idMark(member.of), member.column, member.value)
}

function placeOf(container: IdMark, column: string, value: SetMember['value']): string {
  return `${column} ${isRef(value) ? `@${idMark(value)}` : tokenOf(value)} ${container}`
}
