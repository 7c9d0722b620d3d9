import type { Atom, RowBase, RowChange, Uuid } from 'ovsdb-client'
import type { Catalog } from './catalog.ts'
import { Edits } from './edits.ts'
import type { Key, Membership, SetMember } from './feature.ts'
import { featureOf, idOf, ownerOf, parseIdMark, type IdMark, type OwnerMark } from './marks.ts'
import type { Memory } from './memory.ts'
import { changedElements, elementsOf, isIn, type Rows } from './rows.ts'
import type { RowOutcome, Step } from './steps.ts'

/** A row of ours in a set of ours, or any value in a composed one, which no key put there. */
export interface StrayMember {
  readonly kind: string
  readonly table: string
  readonly container: Uuid
  readonly containerId: IdMark
  readonly column: string
  readonly value: Atom
}

/** A shared column into which features put rows of other features, or a composed one. */
interface OpenColumn {
  readonly kind: string
  readonly table: string
  readonly column: string
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
}

/**
 * Finds what keys put into sets in an earlier life of the process, and do not want any more.
 *
 * Such a value carries no mark of who contributed it. So every value is suspected that comes into a set, and
 * cleared or convicted when all keys that may want it have said what they want. Of strangers' rows and plain values those in
 * composed columns are suspected, and no others.
 */
export class StrayMembers {
  readonly #catalog: Catalog
  readonly #rows: Rows
  readonly #memory: Memory
  readonly #columnsOfTable = new Map<string, OpenColumn[]>()
  readonly #suspects = new Map<string, StrayMember>()

  constructor({ features, catalog, rows, memory }: StrayMembersOptions) {
    this.#catalog = catalog
    this.#rows = rows
    this.#memory = memory
    for (const { name: kind, table, shared, composed = [] } of catalog.kinds.values()) {
      for (const column of shared) {
        const refTable = catalog.tables.get(table)?.columns.get(column)?.refTable
        const isComposed = composed.includes(column)
        if (refTable === undefined && !isComposed) continue
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
        const open = { kind, table, column, refTable, contributors }
        this.#columnsOfTable.set(table, [...(this.#columnsOfTable.get(table) ?? []), open])
      }
    }
  }

  /** Suspects everything that is there. */
  rebuild(): void {
    for (const table of this.#columnsOfTable.keys()) {
      for (const row of this.#rows.scan(table)) this.#suspect(table, row, (column) => elementsOf(row, column))
    }
  }

  /** Suspects what came into a set; answers whether there was anything. */
  follow(changes: readonly RowChange[]): boolean {
    const before = this.#suspects.size
    for (const change of changes) {
      const { table, old, new: fresh } = change
      if (fresh === undefined) continue
      // A row that has become another one brings along what it held, and is still where it was.
      const isSame = old !== undefined && ownerOf(old) !== undefined && idOf(old) === idOf(fresh)
      if (old !== undefined && !isSame) this.#suspectEverywhere(table, fresh._uuid)
      if (!this.#columnsOfTable.has(table)) continue
      this.#suspect(table, fresh, (column) =>
        isSame
          ? changedElements(change, column).filter((value) => isIn(value, fresh, column))
          : elementsOf(fresh, column),
      )
    }
    return this.#suspects.size > before
  }

  /**
   * Values that nobody wants, of those on whose contributors all is known. Others are kept in mind, or cleared.
   *
   * @param isSettled whether it is known what a key wants; without a key, what all keys of the feature want
   */
  find(isSettled: (feature: string, key?: Key) => boolean): readonly StrayMember[] {
    const strays: StrayMember[] = []
    for (const [place, suspect] of this.#suspects) {
      const open = this.#openColumn(suspect)
      const value = this.#ownedValue(suspect, open)
      const of = parseIdMark(suspect.containerId)
      if (open === undefined || value === undefined || of === undefined) this.#suspects.delete(place)
      else if (this.#isAllKnown({ of, column: suspect.column, value }, open, isSettled)) {
        const contributors = this.#memory.contributorsOf(suspect.containerId, suspect.column, value)
        if (contributors.size === 0) strays.push(suspect)
        else this.#suspects.delete(place)
      }
    }
    return strays
  }

  /** How many values the columns of these strays have in all, by `kind.column`. */
  count({ table, kind, column }: StrayMember): number {
    let total = 0
    for (const row of this.#rows.scan(table)) {
      if (parseIdMark(idOf(row) ?? '')?.kind === kind) total += elementsOf(row, column).length
    }
    return total
  }

  #suspect(table: string, row: RowBase, newcomers: (column: string) => readonly Atom[]): void {
    const containerId = ownerOf(row) === undefined ? undefined : idOf(row)
    const kind = containerId === undefined ? undefined : parseIdMark(containerId)?.kind
    if (containerId === undefined || kind === undefined) return
    for (const open of this.#columnsOfTable.get(table) ?? []) {
      if (open.kind !== kind) continue
      for (const value of newcomers(open.column)) {
        const place = `${row._uuid} ${open.column} ${value}`
        this.#suspects.set(place, {
          kind,
          table,
          container: row._uuid,
          containerId,
          column: open.column,
          value,
        })
      }
    }
  }

  /** Suspects a row in all sets that it is in. */
  #suspectEverywhere(refTable: string, uuid: Uuid): void {
    for (const open of [...this.#columnsOfTable.values()].flat()) {
      if (open.refTable !== refTable) continue
      for (const container of this.#rows.find(open.table, open.column, uuid))
        this.#suspect(open.table, container, (column) => (column === open.column ? [uuid] : []))
    }
  }

  /** A feature's membership is for its own rows or for those of others, so one that has rows there wants no others. */
  #isAllKnown(
    member: SetMember,
    { contributors, refTable }: OpenColumn,
    isSettled: (feature: string, key?: Key) => boolean,
  ): boolean {
    return [...contributors].every(([feature, membership]) => {
      if (refTable !== undefined && this.#catalog.tablesOfFeature.get(feature)?.has(refTable) === true)
        return true
      if (membership.keyOf === undefined) return isSettled(feature)
      const key = membership.keyOf(member)
      return key === undefined || isSettled(feature, key)
    })
  }

  #openColumn({ table, kind, column }: StrayMember): OpenColumn | undefined {
    return this.#columnsOfTable.get(table)?.find((one) => one.kind === kind && one.column === column)
  }

  /**
   * The value, if it is still there. In a column of references it is a row of ours, if it still is one, and is not there by its own feature's
   * doing.
   */
  #ownedValue(
    { table, container, column, value }: StrayMember,
    open: OpenColumn | undefined,
  ): SetMember['value'] | undefined {
    const row = this.#rows.get(table, container)
    if (open === undefined || row === undefined || !isIn(value, row, column)) return undefined
    const { refTable, contributors } = open
    if (refTable === undefined) return value
    const member = this.#rows.get(refTable, String(value))
    const owner = member === undefined ? undefined : ownerOf(member)
    if (member === undefined || owner === undefined || contributors.has(featureOf(owner))) return undefined
    if (this.#catalog.tablesOfFeature.get(featureOf(owner))?.has(refTable) !== true) return undefined
    return parseIdMark(idOf(member) ?? '')
  }
}

/** Takes values out of their sets. */
export function planMemberRemoval(
  strays: readonly StrayMember[],
  owner: OwnerMark,
): { readonly steps: readonly Step[]; readonly outcomes: readonly RowOutcome[] } {
  const edits = new Edits()
  const outcomes = new Map<Uuid, RowOutcome>()
  for (const { table, container, containerId, column, value } of strays) {
    edits.delete(table, container, column, value)
    outcomes.set(container, { outcome: 'updated', owner, id: containerId, table, columns: [column] })
  }
  return { steps: edits.steps(), outcomes: [...outcomes.values()] }
}
