import type { KubeOvnError } from '@kube-ovn/errors'
import type { RowRef } from '@kube-ovn/ovn-names'
import type { RowBase, Uuid } from 'ovsdb-client'
import type { Catalog } from './catalog.ts'
import type { Lacks } from './contention.ts'
import { RowClaimedTwiceError } from './errors.ts'
import type { OwnedRow } from './feature.ts'
import {
  idIndex,
  idMark,
  idOf,
  ownerIndex,
  ownerOf,
  parseIdMark,
  type IdMark,
  type OwnerMark,
} from './marks.ts'
import { RefMap } from './ref-map.ts'
import type { Rows } from './rows.ts'
import { isUnmarked } from './unmarked.ts'
import type { Element, Resolve } from './values.ts'
import { defectOf, isSingleton, referencesOf, tableOf, type Adoptable, type Want } from './want.ts'

/** A wanted row and the row of the database that it is, if there is one. */
export interface Target {
  readonly owner: OwnerMark
  readonly id: IdMark
  readonly row: OwnedRow
  readonly existing: RowBase | undefined
  readonly isAdopted: boolean
  /** Names the row within the transaction; used when nothing exists. */
  readonly name: string
}

export interface TableRow {
  readonly table: string
  readonly row: RowBase
}

/** Which row is which: the first half of planning. */
export interface Resolution {
  /** Wants that can be planned now. */
  readonly ready: readonly Want[]
  readonly targetsOf: ReadonlyMap<OwnerMark, readonly Target[]>
  /** Rows that the owner has and no longer wants. */
  readonly unwantedOf: ReadonlyMap<OwnerMark, readonly TableRow[]>
  /** Rows that go away with this plan. */
  readonly doomed: ReadonlySet<Uuid>
  readonly waiting: ReadonlyMap<OwnerMark, readonly RowRef[]>
  readonly awaited: ReadonlyMap<OwnerMark, readonly RowRef[]>
  readonly problems: ReadonlyMap<OwnerMark, KubeOvnError>
  readonly resolve: Resolve
}

export interface ResolveRequest {
  readonly wants: readonly Want[]
  readonly rows: Rows
  readonly catalog: Catalog
  readonly adoptable: Adoptable
  /** The living key that wants a row, as far as known from earlier plans. */
  readonly holderOf?: (id: IdMark) => OwnerMark | undefined
  /** What the wants had to do without already. */
  readonly lacks?: Lacks
}

/**
 * Finds the existing row of every wanted one, and sets aside the keys that cannot be planned.
 *
 * A key waits when a row that it refers to neither exists nor comes into being with this plan; one that waits may
 * make others wait. References that may be missing are left out and awaited.
 */
export function resolveWants(request: ResolveRequest): Resolution {
  const { catalog } = request
  const problems = new Map<OwnerMark, KubeOvnError>()
  const wants = [...request.wants].sort((a, b) => (a.owner < b.owner ? -1 : 1))
  const { wantedBy, idsOf } = claimRows(wants, request, problems)
  const isWanted = (id: IdMark) => wantedBy.has(id) || request.holderOf?.(id) !== undefined
  const targets = new RefMap<Target>()
  const newRows = new Set<OwnedRow>()
  let named = 0
  const targetsOf = new Map<OwnerMark, readonly Target[]>()
  const unwantedOf = new Map<OwnerMark, readonly TableRow[]>()
  for (const want of wants) {
    const ids = idsOf.get(want)
    if (ids === undefined) continue
    const claims = { ...request, wantedBy, isWanted }
    const { found, unwanted } = matchRows(want, ids, claims, named)
    named += found.length
    for (const target of found) {
      const { kind, id } = target.row
      targets.set({ kind: kind.name, id }, target)
      if (target.existing === undefined) newRows.add(target.row)
    }
    targetsOf.set(want.owner, found)
    unwantedOf.set(want.owner, [...unwanted, ...unwantedUnmarked(want, claims)])
  }

  const waiting = new Map<OwnerMark, readonly RowRef[]>()
  let doomed: ReadonlySet<Uuid> = new Set()
  function resolve(ref: RowRef): Element | undefined {
    const target = targets.get(ref)
    if (target?.existing !== undefined) return target.existing._uuid
    if (target !== undefined) return waiting.has(target.owner) ? undefined : { named: target.name }
    const uuid = existing(ref)
    return uuid === undefined || doomed.has(uuid) ? undefined : uuid
  }
  // Many keys refer to the same few containers.
  const found = new RefMap<Uuid | undefined>()
  function existing(ref: RowRef): Uuid | undefined {
    if (found.has(ref)) return found.get(ref)
    const uuid = findExisting(ref, idMark(ref), { ...request, isWanted })
    found.set(ref, uuid)
    return uuid
  }
  const isNew = (row: OwnedRow) => newRows.has(row)
  const references = new Map(wants.map((want) => [want, referencesOf(want, catalog, isNew)]))
  function missing(want: Want, isOptional: boolean): readonly RowRef[] {
    return (references.get(want) ?? [])
      .filter((reference) => reference.isOptional === isOptional && resolve(reference.ref) === undefined)
      .map((reference) => reference.ref)
  }

  let ready = wants.filter((want) => !problems.has(want.owner))
  for (;;) {
    doomed = new Set(ready.flatMap((want) => (unwantedOf.get(want.owner) ?? []).map(({ row }) => row._uuid)))
    const before = waiting.size
    for (const want of ready) {
      const lacking = missing(want, false)
      if (lacking.length > 0) waiting.set(want.owner, lacking)
    }
    if (waiting.size === before) break
    ready = ready.filter((want) => !waiting.has(want.owner))
  }
  const awaited = new Map<OwnerMark, readonly RowRef[]>()
  for (const want of ready) {
    const lacking = missing(want, true)
    if (lacking.length > 0) awaited.set(want.owner, lacking)
  }
  return { ready, targetsOf, unwantedOf, doomed, waiting, awaited, problems, resolve }
}

/** Who wants what. */
interface Claims {
  /** The key of the plan to which a row is given. */
  readonly wantedBy: ReadonlyMap<IdMark, OwnerMark>
  /** Whether any key that is known wants it. */
  readonly isWanted: (id: IdMark) => boolean
}

/** Finds a row that no key of the plan wants. */
export function findExisting(
  ref: RowRef,
  id: IdMark,
  {
    catalog,
    rows,
    adoptable,
    isWanted,
  }: Pick<ResolveRequest, 'catalog' | 'rows' | 'adoptable'> & Pick<Claims, 'isWanted'>,
): Uuid | undefined {
  const table = tableOf(ref, catalog)
  if (table === undefined) return undefined
  if (isSingleton(ref)) return firstOf(rows.scan(table))?._uuid
  const marked = lowestOwned(rows.find(table, idIndex, id))?._uuid
  return marked ?? adoptable.find(id, isWanted)
}

/**
 * Gives each row to one key, and finds the keys that must do without.
 *
 * @returns the rest of the wants with the marks of their rows, too
 */
function claimRows(
  wants: readonly Want[],
  request: ResolveRequest,
  problems: Map<OwnerMark, KubeOvnError>,
): {
  readonly wantedBy: ReadonlyMap<IdMark, OwnerMark>
  readonly idsOf: ReadonlyMap<Want, readonly IdMark[]>
} {
  const owners = new Set(wants.map((want) => want.owner))
  const wantedBy = new Map<IdMark, OwnerMark>()
  const idsOf = new Map<Want, readonly IdMark[]>()
  for (const want of wants) {
    const defect = defectOf(want, request.catalog)
    if (defect !== undefined) {
      problems.set(want.owner, defect)
      continue
    }
    const ids = want.desired.rows.map(markOf)
    for (const id of ids) {
      const living = request.holderOf?.(id)
      const holder = wantedBy.get(id) ?? (living === undefined || owners.has(living) ? undefined : living)
      if (holder === undefined || holder === want.owner) continue
      problems.set(want.owner, new RowClaimedTwiceError(id, want.owner, holder))
      break
    }
    if (problems.has(want.owner)) continue
    for (const id of ids) wantedBy.set(id, want.owner)
    idsOf.set(want, ids)
  }
  return { wantedBy, idsOf }
}

function matchRows(
  want: Want,
  ids: readonly IdMark[],
  { rows, adoptable, holderOf, wantedBy, isWanted }: ResolveRequest & Claims,
  offset: number,
): { found: readonly Target[]; unwanted: readonly TableRow[] } {
  const tables = new Set(want.kinds.map((kind) => kind.table))
  const owned = [...tables].flatMap((table) =>
    rows.find(table, ownerIndex, want.owner).map((row) => ({ table, row })),
  )
  const kept = new Set<Uuid>()
  const duplicates: TableRow[] = []
  // A row of ours whose id was tampered with is recognised by its content rather than replaced.
  const strayed = new Map<IdMark, RowBase>()
  for (const { table, row } of owned) {
    const mark = idOf(row)
    if (mark !== undefined && wantedBy.has(mark)) continue
    const natural = adoptable.identities(table, row).find((one) => wantedBy.get(one) === want.owner)
    if (natural !== undefined) strayed.set(natural, row)
  }
  const found = want.desired.rows.map((row, n): Target => {
    const id = ids[n] ?? markOf(row)
    const { table } = row.kind
    const marked = rows.find(table, idIndex, id)
    const best = lowestOwned(marked)
    for (const one of marked)
      if (one !== best && ownerOf(one) !== undefined) duplicates.push({ table, row: one })
    const adoptableUuid = best === undefined ? adoptable.find(id, isWanted) : undefined
    const adopted = adoptableUuid === undefined ? undefined : rows.get(table, adoptableUuid)
    const existing = best ?? adopted ?? strayed.get(id)
    if (existing !== undefined) kept.add(existing._uuid)
    return {
      owner: want.owner,
      id,
      row,
      existing,
      isAdopted: adopted !== undefined && row.kind.isUnmarked !== true,
      name: `row${offset + n}`,
    }
  })
  const listed = new Set(duplicates.map(({ row }) => row._uuid))
  const unwanted = owned.filter(({ row }) => {
    if (kept.has(row._uuid) || listed.has(row._uuid)) return false
    // Another key of this plan takes the row over, or one that holds it puts its mark right.
    const mark = idOf(row)
    if (mark === undefined) return true
    const holder = holderOf?.(mark)
    return !wantedBy.has(mark) && (holder === undefined || holder === want.owner)
  })
  return { found, unwanted: [...unwanted, ...duplicates] }
}

/** Rows without marks that a key had and wants no more, and nobody else. */
function unwantedUnmarked(
  { owner, unmarked = [] }: Want,
  { catalog, rows, adoptable, holderOf, wantedBy, isWanted }: ResolveRequest & Claims,
): readonly TableRow[] {
  return unmarked.flatMap((id) => {
    const kind = parseIdMark(id)?.kind ?? ''
    const table = catalog.kinds.get(kind)?.table
    if (table === undefined || !isUnmarked(kind, catalog)) return []
    if (wantedBy.has(id) || holderOf?.(id) !== owner) return []
    const uuid = adoptable.find(id, isWanted)
    const row = uuid === undefined ? undefined : rows.get(table, uuid)
    return row === undefined ? [] : [{ table, row }]
  })
}

function markOf(row: OwnedRow): IdMark {
  return idMark({ kind: row.kind.name, id: row.id })
}

/** Of rows with an owner the one of the lowest id. */
function lowestOwned(rows: readonly RowBase[]): RowBase | undefined {
  let best: RowBase | undefined
  for (const row of rows)
    if (ownerOf(row) !== undefined && (best === undefined || row._uuid < best._uuid)) best = row
  return best
}

function firstOf(rows: Iterable<RowBase>): RowBase | undefined {
  for (const row of rows) return row
  return undefined
}
