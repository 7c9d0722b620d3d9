import { MultiMap } from '@kube-ovn/collections'
import type { ParentRow, RowKind } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { RowBase, RowChange, Uuid } from 'ovsdb-client'
import type { Catalog } from './catalog.ts'
import { featureOf, hasVendor, idMark, idOf, ownerOf, parseIdMark, type IdMark } from './marks.ts'
import { changedElements, columnOf, elementsOf, isIn, type Rows } from './rows.ts'
import type { TableRow } from './resolve.ts'
import { isUnmarked } from './unmarked.ts'
import type { Adoptable } from './want.ts'

/**
 * Knows the rows that carry no owner but are, by their content, what a feature may want: rows that upstream wrote,
 * and rows of ours from which somebody took the mark, or gave them an owner that cannot be.
 */
export class Adoption implements Adoptable {
  readonly #catalog: Catalog
  readonly #rows: Rows
  readonly #byId = new MultiMap<IdMark, Uuid>()
  /** What each row may be, at least one; first what it seems to be. */
  readonly #byUuid = new Map<Uuid, { readonly ids: readonly IdMark[]; readonly table: string }>()
  /** What rows were that this process saw as ours, until somebody took all marks from them. */
  readonly #stripped = new Map<Uuid, IdMark>()

  constructor(catalog: Catalog, rows: Rows) {
    this.#catalog = catalog
    this.#rows = rows
  }

  /** Looks at every row of every known kind. Called once the cache is complete, and after each full resync. */
  rebuild(): void {
    this.#byId.clear()
    this.#byUuid.clear()
    this.#stripped.clear()
    for (const table of this.#catalog.kindsOfTable.keys()) {
      for (const row of this.#rows.scan(table)) this.#consider(table, row)
    }
  }

  /** Follows changes of rows; answers the ids that are adoptable now and were not before. */
  follow(changes: readonly RowChange[]): readonly IdMark[] {
    const appeared: IdMark[] = []
    for (const change of changes) {
      if (this.#catalog.kindsOfTable.has(change.table)) {
        const before = this.known(change.uuid)
        this.#forget(change.uuid)
        this.#followMarks(change)
        if (change.new !== undefined) this.#consider(change.table, change.new)
        appeared.push(...this.known(change.uuid).filter((id) => !before.includes(id)))
      }
      appeared.push(...this.#considerChildren(change))
    }
    return appeared
  }

  /**
   * Of several rows that are the same by their content, the one with the lowest id. A row that may be several things
   * becomes the first of them that is wanted.
   */
  find(id: IdMark, isWanted: (id: IdMark) => boolean): Uuid | undefined {
    let lowest: Uuid | undefined
    for (const uuid of this.#byId.get(id)) {
      const becomes = this.known(uuid).find((one) => isWanted(one)) ?? id
      if (becomes === id && (lowest === undefined || uuid < lowest)) lowest = uuid
    }
    return lowest
  }

  /** The ids under which a row without owner is known. */
  known(uuid: Uuid): readonly IdMark[] {
    return this.#byUuid.get(uuid)?.ids ?? none
  }

  identify(table: string, row: RowBase): IdMark | undefined {
    for (const kind of this.#catalog.kindsOfTable.get(table) ?? []) {
      const id = kind.identify(row as OvnNorthbound[typeof kind.table], this.#parentOf(kind, row))
      if (id !== undefined) return idMark({ kind: kind.name, id })
    }
    return undefined
  }

  identities(table: string, row: RowBase): readonly IdMark[] {
    const natural = this.identify(table, row)
    const ids = natural === undefined ? [] : [natural]
    for (const kind of this.#catalog.kindsOfTable.get(table) ?? []) {
      const id = kind.resembles?.(row as OvnNorthbound[typeof kind.table])
      const mark = id === undefined ? undefined : idMark({ kind: kind.name, id })
      if (mark !== undefined && mark !== natural) ids.push(mark)
    }
    return ids
  }

  /** Rows of the vendor that nobody has adopted, and rows of ours that can not be marked, be it that keys want them. */
  leftOver(): readonly (TableRow & { readonly ids: readonly IdMark[] })[] {
    const rows: (TableRow & { readonly ids: readonly IdMark[] })[] = []
    for (const [uuid, { table, ids }] of this.#byUuid) {
      const row = this.#rows.get(table, uuid)
      if (row === undefined) continue
      const isUnmarkable = ids.some((id) => isUnmarked(parseIdMark(id)?.kind, this.#catalog))
      if (isUnmarkable || hasVendor(row)) rows.push({ table, row, ids })
    }
    return rows
  }

  #consider(table: string, row: RowBase): void {
    if (this.#hasOwner(table, row)) return
    const ids = this.#idsOf(table, row)
    if (ids.length === 0) return
    this.#byUuid.set(row._uuid, { ids, table })
    for (const id of ids) this.#byId.add(id, row._uuid)
  }

  #idsOf(table: string, row: RowBase): readonly IdMark[] {
    const mark = this.#markedId(table, row)
    if (mark !== undefined) return [mark]
    const ids = this.identities(table, row)
    const stripped = ids.length === 0 ? this.#stripped.get(row._uuid) : undefined
    return stripped === undefined ? ids : [stripped]
  }

  /** An owner who cannot own rows of the table is none. A feature that is not known may own anything. */
  #hasOwner(table: string, row: RowBase): boolean {
    const owner = ownerOf(row)
    if (owner === undefined) return false
    return this.#catalog.tablesOfFeature.get(featureOf(owner))?.has(table) !== false
  }

  #followMarks({ uuid, old, new: current }: RowChange): void {
    if (current === undefined || ownerOf(current) !== undefined) this.#stripped.delete(uuid)
    else if (old !== undefined && ownerOf(old) !== undefined) {
      const mark = idOf(old)
      if (mark !== undefined) this.#stripped.set(uuid, mark)
    }
  }

  /** The id mark of a row that lost its owner mark only. */
  #markedId(table: string, row: RowBase): IdMark | undefined {
    const mark = idOf(row)
    const kind = mark === undefined ? undefined : parseIdMark(mark)?.kind
    return kind !== undefined && hasVendor(row) && this.#catalog.kinds.get(kind)?.table === table
      ? mark
      : undefined
  }

  #forget(uuid: Uuid): void {
    const known = this.#byUuid.get(uuid)
    if (known === undefined) return
    this.#byUuid.delete(uuid)
    for (const id of known.ids) this.#byId.delete(id, uuid)
  }

  /** A row may be identified by its parent, whose reference can come after the row. Of a parent that is the same, only those that came are looked at. */
  #considerChildren(change: RowChange): readonly IdMark[] {
    const { table, old, new: parent } = change
    if (parent === undefined) return []
    const isSame = old !== undefined && isSameParent(old, parent)
    const appeared: IdMark[] = []
    for (const kind of this.#catalog.kinds.values()) {
      if (kind.parent?.[0] !== table) continue
      const column = kind.parent[1]
      for (const uuid of isSame ? changedElements(change, column) : elementsOf(parent, column)) {
        if (this.#byUuid.has(String(uuid)) || !isIn(uuid, parent, column)) continue
        const child = this.#rows.get(kind.table, String(uuid))
        if (child === undefined) continue
        this.#consider(kind.table, child)
        appeared.push(...this.known(child._uuid))
      }
    }
    return appeared
  }

  #parentOf(kind: RowKind, row: RowBase): ParentRow | undefined {
    if (kind.parent === undefined) return undefined
    const [table, column] = kind.parent
    const parent = this.#rows.find(table, column, row._uuid)[0]
    const name = parent === undefined ? undefined : columnOf(parent, 'name')
    if (parent === undefined) return undefined
    const id = ownerOf(parent) === undefined ? undefined : idOf(parent)
    const named = { table, name: typeof name === 'string' ? name : parent._uuid }
    return id === undefined ? named : { ...named, id }
  }
}

const none: readonly IdMark[] = []

/** By all that a row is told of its parent. */
function isSameParent(old: RowBase, current: RowBase): boolean {
  return (
    columnOf(old, 'name') === columnOf(current, 'name') &&
    ownerOf(old) === ownerOf(current) &&
    idOf(old) === idOf(current)
  )
}
