import type { RowRef } from '@kube-ovn/ovn-names'
import type { RowBase, RowChange } from 'ovsdb-client'
import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { kindOf } from './containers.ts'
import { idIndex, idMark, idOf, ownerOf, parseIdMark, type IdMark, type OwnerMark } from './marks.ts'
import type { Memory } from './memory.ts'
import { elementPlace, entryPlace } from './places.ts'
import { changedElements, changedEntries, columnOf, type Rows } from './rows.ts'
import { referredRow } from './unmarked.ts'
import { haveUnmarked } from './unmarked.ts'
import { singletonRef } from './want.ts'

/** Keys that a change in the database concerns, apart from the features' own triggers. */
interface Concerned {
  /**
   * Owners of rows that changed or vanished, keys whose row appeared under another owner, and those whose values were added to or taken
   * from a container.
   */
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
  const unmarked = changes.filter(({ table }) => hasUnmarkedKind(table, lookup.catalog))
  for (const owner of holdersOf(unmarked, lookup)) drifted.add(owner)
  for (const change of changes) {
    for (const row of concernsOwner(change, lookup.catalog) ? [change.old, change.new] : []) {
      const owner = row === undefined ? undefined : ownerOf(row)
      if (owner !== undefined) drifted.add(owner)
    }
    for (const owner of holderOfRow(change.new, lookup)) drifted.add(owner)
    followContainer(change, lookup, drifted)
    followSingleton(change, lookup, drifted)
  }
  const strays = lookup.adoption.follow(changes)
  for (const owner of holdersOf(unmarked, lookup)) drifted.add(owner)
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

/** The key that wants the row of this id: whoever else the mark names, it has to put that right, or to do away with a second one. */
function holderOfRow(row: RowBase | undefined, { memory }: DriftLookup): readonly OwnerMark[] {
  const owner = row === undefined ? undefined : ownerOf(row)
  const id = row === undefined || owner === undefined ? undefined : idOf(row)
  const holder = id === undefined ? undefined : memory.holderOf(id)
  return holder === undefined || holder === owner ? [] : [holder]
}

/** A change in shared columns only is the affair of those who share: an owner need not look at every port that joins. */
function concernsOwner(
  { table, old, new: fresh }: RowChange,
  catalog: Catalog,
  id = fresh === undefined ? undefined : idOf(fresh),
): boolean {
  if (old === undefined || fresh === undefined) return true
  const kind = parseIdMark(id ?? '')?.kind
  const shared = (kind === undefined ? undefined : catalog.kinds.get(kind))?.shared ?? []
  for (const column of catalog.tables.get(table)?.columns.keys() ?? [])
    // The cache shares the columns that stay the same between the two states of a row.
    if (columnOf(old, column) !== columnOf(fresh, column) && !shared.includes(column)) return true
  return false
}

function hasUnmarkedKind(table: string, { kindsOfTable }: Catalog): boolean {
  return haveUnmarked(kindsOfTable.get(table) ?? [])
}

/** The keys that want rows which can not be marked, by what these are as far as `adoption` has followed. */
function holdersOf(
  changes: readonly RowChange[],
  { adoption, catalog, memory }: DriftLookup,
): readonly OwnerMark[] {
  return changes.flatMap((change) =>
    adoption
      .known(change.uuid)
      .filter((id) => concernsOwner(change, catalog, id))
      .flatMap((id) => memory.holderOf(id) ?? []),
  )
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
  const mark = idOf(container) ?? lookup.adoption.identify(change.table, container)
  const columns = catalog.tables.get(change.table)?.columns
  for (const column of kind?.shared ?? []) {
    if (columns?.get(column)?.shape === 'map') {
      if (mark !== undefined) followEntries(change, mark, column, lookup, drifted)
      continue
    }
    const refTable = columns?.get(column)?.refTable
    for (const element of changedElements(change, column)) {
      const row =
        refTable === undefined ? undefined : referredRow(lookup.rows, catalog, refTable, String(element))
      const owner = row === undefined ? undefined : ownerOf(row)
      if (owner !== undefined) drifted.add(owner)
      if (mark === undefined) continue
      const values = refTable === undefined || row === undefined ? [element] : namesOf(refTable, row, lookup)
      for (const value of values)
        for (const contributor of memory.contributorsOf(elementPlace(mark, column, value)))
          drifted.add(contributor)
    }
  }
}

/** What a row may be meant by: its mark, or, when somebody has taken that away, what it is without. */
function namesOf(table: string, row: RowBase, { adoption }: DriftLookup): readonly RowRef[] {
  const mark = idOf(row)
  const marks =
    mark === undefined ? [...adoption.known(row._uuid), ...adoption.identities(table, row)] : [mark]
  return marks.flatMap((one) => parseIdMark(one) ?? [])
}

function followEntries(
  change: RowChange,
  mark: IdMark,
  column: string,
  { memory }: DriftLookup,
  drifted: Set<OwnerMark>,
): void {
  for (const key of changedEntries(change, column))
    for (const contributor of memory.contributorsOf(entryPlace(mark, column, key))) drifted.add(contributor)
}

/** The entries of a table's only row concern those who keep them, and it has no other owner. */
function followSingleton(change: RowChange, lookup: DriftLookup, drifted: Set<OwnerMark>): void {
  const mark = idMark(singletonRef(change.table))
  if (lookup.memory.referrersOf(mark).size === 0) return
  for (const [column, { shape }] of lookup.catalog.tables.get(change.table)?.columns ?? [])
    if (shape === 'map') followEntries(change, mark, column, lookup, drifted)
}
