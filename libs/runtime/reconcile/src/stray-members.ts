import type { Atom, RowBase, RowChange, Uuid } from 'ovsdb-client'
import type { Catalog } from './catalog.ts'
import { Edits } from './edits.ts'
import type { Key, Member, Membership } from './feature.ts'
import { featureOf, idOf, ownerOf, parseIdMark, type IdMark, type OwnerMark } from './marks.ts'
import type { Memory } from './memory.ts'
import { placeOf } from './places.ts'
import { changedElements, changedEntries, elementsOf, isIn, mapOf, type Rows } from './rows.ts'
import { referredRow } from './unmarked.ts'
import type { RowOutcome, Step } from './steps.ts'
import { isUnmarked } from './unmarked.ts'
import type { Adoptable } from './want.ts'

/** A row of ours in a set of ours, or anything in a composed column, which no key put there. */
export interface StrayMember {
  readonly kind: string
  readonly table: string
  readonly container: Uuid
  readonly containerId: IdMark
  readonly column: string
  /** Of an entry of a map. */
  readonly key?: string
  readonly value: Atom
}

/** A shared column into which features put rows of other features, or a composed one. */
interface OpenColumn {
  readonly kind: string
  readonly table: string
  readonly column: string
  readonly isMap: boolean
  /** Absent from a composed column, whose values are plain. */
  readonly refTable: string | undefined
  /** Memberships by the features that put something there: their own rows, of which they know themselves, or those of others. */
  readonly contributors: ReadonlyMap<string, Membership>
}

interface StrayMembersOptions {
  readonly features: readonly { readonly name: string; readonly memberships?: readonly Membership[] }[]
  readonly catalog: Catalog
  readonly rows: Rows
  readonly memory: Memory
  /** Knows containers that can not be marked. Absent: there are none. */
  readonly adoptable?: Pick<Adoptable, 'identify'>
}

/**
 * Finds what keys put into sets in an earlier life of the process, and do not want any more.
 *
 * Such a value, or entry of a map, carries no mark of who contributed it. So every one is suspected that comes into a column, and
 * cleared or convicted when all keys that may want it have said what they want. Of strangers' rows, plain values and entries those in
 * composed columns are suspected, and no others.
 */
export class StrayMembers {
  readonly #catalog: Catalog
  readonly #rows: Rows
  readonly #memory: Memory
  readonly #adoptable: StrayMembersOptions['adoptable']
  readonly #columnsOfTable = new Map<string, OpenColumn[]>()
  readonly #suspects = new Map<string, StrayMember>()

  constructor({ features, catalog, rows, memory, adoptable }: StrayMembersOptions) {
    this.#catalog = catalog
    this.#rows = rows
    this.#memory = memory
    this.#adoptable = adoptable
    for (const { name: kind, table, shared, composed = [] } of catalog.kinds.values()) {
      for (const column of shared) {
        const { refTable, shape } = catalog.tables.get(table)?.columns.get(column) ?? {}
        const isComposed = composed.includes(column)
        const isMap = shape === 'map'
        if ((refTable === undefined || isMap) && !isComposed) continue
        const declares = (one: Membership) => one.kind === kind && one.column === column
        const contributors = new Map(
          features.flatMap(({ name, memberships = [] }) =>
            memberships.filter(declares).map((membership): [string, Membership] => [name, membership]),
          ),
        )
        const takesOthers = [...catalog.tablesOfFeature].some(
          ([name, tables]) => refTable !== undefined && tables.has(refTable) && !contributors.has(name),
        )
        if (contributors.size === 0 || !(takesOthers || isComposed)) continue
        const open = { kind, table, column, isMap, refTable, contributors }
        this.#columnsOfTable.set(table, [...(this.#columnsOfTable.get(table) ?? []), open])
      }
    }
  }

  /** Suspects everything that is there. */
  rebuild(): void {
    for (const table of this.#columnsOfTable.keys()) {
      for (const row of this.#rows.scan(table)) this.#suspect(table, row, (open) => contentsOf(row, open))
    }
  }

  /** Suspects what came into a set; answers whether there was anything. */
  follow(changes: readonly RowChange[]): boolean {
    const before = this.#suspects.size
    for (const change of changes) {
      const { table, old, new: fresh } = change
      if (fresh === undefined) continue
      // A row that has become another one brings along what it held, and is still where it was.
      const id = old === undefined ? undefined : this.#idOf(table, old)
      const isSame = id !== undefined && id === this.#idOf(table, fresh)
      if (old !== undefined && !isSame) this.#suspectEverywhere(table, fresh._uuid)
      if (!this.#columnsOfTable.has(table)) continue
      this.#suspect(table, fresh, (open) =>
        isSame ? newcomersOf(change, fresh, open) : contentsOf(fresh, open),
      )
    }
    return this.#suspects.size > before
  }

  /**
   * Values that nobody wants, of those on whose contributors all is known. Others are kept in mind, or cleared.
   *
   * @param isHeard whether it is known what a key wants; without a key, what all keys of the feature want
   */
  find(isHeard: (feature: string, key: Key | undefined) => boolean): readonly StrayMember[] {
    const strays: StrayMember[] = []
    for (const [place, suspect] of this.#suspects) {
      const open = this.#openColumn(suspect)
      const member = open === undefined ? undefined : this.#memberOf(suspect, open)
      if (open === undefined || member === undefined) this.#suspects.delete(place)
      else if (this.#isAllKnown(member, open, isHeard)) {
        if (this.#memory.isContributed(placeOf(member))) this.#suspects.delete(place)
        else strays.push(suspect)
      }
    }
    return strays
  }

  /** How many values the columns of these strays have in all, by `kind.column`. */
  count({ table, kind, column }: StrayMember): number {
    let total = 0
    for (const row of this.#rows.scan(table)) {
      if (parseIdMark(this.#idOf(table, row) ?? '')?.kind !== kind) continue
      total += elementsOf(row, column).length + Object.keys(mapOf(row, column)).length
    }
    return total
  }

  /** What a row of ours is. */
  #idOf(table: string, row: RowBase): IdMark | undefined {
    if (ownerOf(row) !== undefined) return idOf(row)
    const natural = this.#adoptable?.identify(table, row)
    return isUnmarked(parseIdMark(natural ?? '')?.kind, this.#catalog) ? natural : undefined
  }

  #suspect(table: string, row: RowBase, newcomers: (open: OpenColumn) => readonly Content[]): void {
    const containerId = this.#idOf(table, row)
    const kind = containerId === undefined ? undefined : parseIdMark(containerId)?.kind
    if (containerId === undefined || kind === undefined) return
    for (const open of this.#columnsOfTable.get(table) ?? []) {
      if (open.kind !== kind) continue
      const { column } = open
      for (const content of newcomers(open)) {
        const place = `${row._uuid} ${column} ${content.key ?? content.value}`
        this.#suspects.set(place, { kind, table, container: row._uuid, containerId, column, ...content })
      }
    }
  }

  /** Suspects a row in all sets that it is in. */
  #suspectEverywhere(refTable: string, uuid: Uuid): void {
    for (const open of [...this.#columnsOfTable.values()].flat()) {
      if (open.refTable !== refTable) continue
      for (const container of this.#rows.find(open.table, open.column, uuid))
        this.#suspect(open.table, container, ({ column }) =>
          column === open.column ? [{ value: uuid }] : [],
        )
    }
  }

  /** A feature's membership is for its own rows or for those of others, so one that has rows there wants no others. */
  #isAllKnown(
    member: Member,
    { contributors, refTable }: OpenColumn,
    isHeard: (feature: string, key: Key | undefined) => boolean,
  ): boolean {
    return [...contributors].every(([feature, membership]) => {
      if (refTable !== undefined && this.#catalog.tablesOfFeature.get(feature)?.has(refTable) === true)
        return true
      if (membership.keyOf === undefined) return isHeard(feature, undefined)
      const key = membership.keyOf(member)
      return key === undefined || isHeard(feature, key)
    })
  }

  #openColumn({ table, kind, column }: StrayMember): OpenColumn | undefined {
    return this.#columnsOfTable.get(table)?.find((one) => one.kind === kind && one.column === column)
  }

  /**
   * What is suspected, if it is still there. In a column of references it is a row of ours, if it still is one, and is not there by its own
   * feature's doing.
   */
  #memberOf(suspect: StrayMember, { isMap, refTable, contributors }: OpenColumn): Member | undefined {
    const { table, container, containerId, column, key, value } = suspect
    const row = this.#rows.get(table, container)
    const of = parseIdMark(containerId)
    if (row === undefined || of === undefined) return undefined
    if (isMap && key !== undefined) {
      const current = mapOf(row, column)[key]
      return current === undefined ? undefined : { of, column, key, value: current }
    }
    if (!isIn(value, row, column)) return undefined
    if (refTable === undefined) return { of, column, value }
    const member = referredRow(this.#rows, this.#catalog, refTable, String(value))
    const owner = member === undefined ? undefined : ownerOf(member)
    if (member === undefined || owner === undefined || contributors.has(featureOf(owner))) return undefined
    if (this.#catalog.tablesOfFeature.get(featureOf(owner))?.has(refTable) !== true) return undefined
    const ref = parseIdMark(idOf(member) ?? '')
    return ref === undefined ? undefined : { of, column, value: ref }
  }
}

/** A value of a set, or an entry of a map. */
type Content = Pick<StrayMember, 'key' | 'value'>

function contentsOf(row: RowBase, { column, isMap }: OpenColumn): readonly Content[] {
  if (!isMap) return elementsOf(row, column).map((value) => ({ value }))
  return Object.entries(mapOf(row, column)).map(([key, value]) => ({ key, value }))
}

function newcomersOf(change: RowChange, fresh: RowBase, { column, isMap }: OpenColumn): readonly Content[] {
  if (!isMap)
    return changedElements(change, column).flatMap((value) => (isIn(value, fresh, column) ? [{ value }] : []))
  const map = mapOf(fresh, column)
  return changedEntries(change, column).flatMap((key) => {
    const value = map[key]
    return value === undefined ? [] : [{ key, value }]
  })
}

/** Takes values and entries out of their columns. */
export function planMemberRemoval(
  strays: readonly StrayMember[],
  owner: OwnerMark,
): { readonly steps: readonly Step[]; readonly outcomes: readonly RowOutcome[] } {
  const edits = new Edits()
  const outcomes = new Map<Uuid, RowOutcome>()
  for (const { table, container, containerId, column, key, value } of strays) {
    if (key === undefined) edits.delete(table, container, column, value)
    else edits.takeEntry(table, container, column, key, value)
    outcomes.set(container, { outcome: 'updated', owner, id: containerId, table, columns: [column] })
  }
  return { steps: edits.steps(), outcomes: [...outcomes.values()] }
}
