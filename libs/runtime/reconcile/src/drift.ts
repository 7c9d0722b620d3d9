import type { RowBase, RowChange } from 'ovsdb-client'
import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { kindOf } from './containers.ts'
import { idIndex, idMark, idOf, ownerOf, parseIdMark, type IdMark, type OwnerMark } from './marks.ts'
import type { Memory } from './memory.ts'
import { changedElements, columnOf, type Rows } from './rows.ts'
import { singletonRef } from './want.ts'

/** Keys that a change in the database concerns, apart from the features' own triggers. */
interface Concerned {
  /** Owners of rows that changed or vanished, and those whose values were added to or taken from a container. */
  readonly drifted: ReadonlySet<OwnerMark>
  /** Keys that refer to a row which has just come into being, or become another one. */
  readonly unblocked: ReadonlySet<OwnerMark>
  /** There are rows without an owner that were not there before. */
  readonly hasStrays: boolean
}

interface DriftLookup {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly adoption: Adoption
  readonly memory: Memory
}

/** Follows a batch of changes. It keeps `adoption` up to date on the way, so it must see every batch once. */
export function followChanges(changes: readonly RowChange[], lookup: DriftLookup): Concerned {
  const drifted = new Set<OwnerMark>()
  const unblocked = new Set<OwnerMark>()
  const present = presentBefore(changes, lookup)
  for (const change of changes) {
    for (const row of concernsOwner(change, lookup.catalog) ? [change.old, change.new] : []) {
      const owner = row === undefined ? undefined : ownerOf(row)
      if (owner !== undefined) drifted.add(owner)
    }
    followContainer(change, lookup, drifted)
    for (const owner of contributorsToMaps(change, lookup)) drifted.add(owner)
  }
  const strays = lookup.adoption.follow(changes)
  const appeared = new Set<IdMark>(strays)
  for (const change of changes) {
    const mark = change.new === undefined || ownerOf(change.new) === undefined ? undefined : idOf(change.new)
    if (mark !== undefined) appeared.add(mark)
    if (change.old === undefined) appeared.add(idMark(singletonRef(change.table)))
  }
  for (const id of appeared) {
    if (present.has(id)) continue
    for (const owner of lookup.memory.referrersOf(id)) unblocked.add(owner)
  }
  for (const id of abandonedIds(changes, lookup)) {
    for (const owner of lookup.memory.referrersOf(id)) unblocked.add(owner)
  }
  return { drifted, unblocked, hasStrays: strays.length > 0 }
}

/** A change in shared columns only is the affair of those who share: an owner need not look at every port that joins. */
function concernsOwner({ table, old, new: fresh }: RowChange, catalog: Catalog): boolean {
  if (old === undefined || fresh === undefined) return true
  const kind = parseIdMark(idOf(fresh) ?? '')?.kind
  const shared = (kind === undefined ? undefined : catalog.kinds.get(kind))?.shared ?? []
  return changedColumns(table, old, fresh, catalog).some((column) => !shared.includes(column))
}

/** The cache shares the columns that stay the same between the two states of a row. */
function changedColumns(table: string, old: RowBase, fresh: RowBase, catalog: Catalog): readonly string[] {
  const columns = [...(catalog.tables.get(table)?.columns.keys() ?? [])]
  return columns.filter((column) => columnOf(old, column) !== columnOf(fresh, column))
}

/** Ids under which the changed rows were known before. */
function presentBefore(changes: readonly RowChange[], { adoption }: DriftLookup): ReadonlySet<IdMark> {
  const present = new Set<IdMark>()
  for (const { old, new: fresh, uuid } of changes) {
    if (old === undefined || isHandedOver(old, fresh)) continue
    const mark = idOf(old)
    const ids = ownerOf(old) === undefined ? adoption.known(uuid) : mark === undefined ? [] : [mark]
    for (const id of ids) present.add(id)
  }
  return present
}

/** What rows were that have become others, or made way for others: who means them by that finds another row from now on. */
function abandonedIds(changes: readonly RowChange[], { rows }: DriftLookup): readonly IdMark[] {
  return changes.flatMap(({ table, old, new: fresh }) => {
    const id = old === undefined || ownerOf(old) === undefined ? undefined : idOf(old)
    if (id === undefined) return []
    if (fresh === undefined) return rows.find(table, idIndex, id).length > 0 ? [id] : []
    return idOf(fresh) === id ? [] : [id]
  })
}

/** Under another owner a row may have been about to go, so it counts as new when it comes to the right one. */
function isHandedOver(old: RowBase, fresh: RowBase | undefined): boolean {
  const [before, after] = [ownerOf(old), fresh === undefined ? undefined : ownerOf(fresh)]
  return before !== undefined && after !== undefined && before !== after
}

function followContainer(change: RowChange, lookup: DriftLookup, drifted: Set<OwnerMark>): void {
  const { catalog, memory } = lookup
  const container = change.new ?? change.old
  const kinds = catalog.kindsOfTable.get(change.table)
  if (container === undefined || kinds === undefined || kinds.every((kind) => kind.shared.length === 0))
    return
  const name = kindOf(change.table, container, { adoptable: lookup.adoption })
  const kind = kinds.find((one) => one.name === name)
  const mark = idOf(container)
  for (const column of kind?.shared ?? []) {
    const refTable = catalog.tables.get(change.table)?.columns.get(column)?.refTable
    for (const element of changedElements(change, column)) {
      const row = refTable === undefined ? undefined : lookup.rows.get(refTable, String(element))
      const owner = row === undefined ? undefined : ownerOf(row)
      if (owner !== undefined) drifted.add(owner)
      const value = row === undefined ? element : parseIdMark(idOf(row) ?? '')
      if (mark === undefined || value === undefined) continue
      for (const contributor of memory.contributorsOf(mark, column, value)) drifted.add(contributor)
    }
  }
}

/** Keys that keep entries in the map columns of a table's only row, if one of these columns changed. */
function contributorsToMaps({ table, old, new: fresh }: RowChange, lookup: DriftLookup): Iterable<OwnerMark> {
  const owners = lookup.memory.referrersOf(idMark(singletonRef(table)))
  if (owners.size === 0 || old === undefined || fresh === undefined) return owners
  const columns = lookup.catalog.tables.get(table)?.columns
  const changed = changedColumns(table, old, fresh, lookup.catalog)
  const isConcerned = changed.some((column) => columns?.get(column)?.shape === 'map')
  return isConcerned ? owners : []
}
