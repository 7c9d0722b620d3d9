import { digestOf } from './digest.ts'
import type { Uuid } from 'ovsdb-client'
import type { Catalog, Column } from './catalog.ts'
import { idOf, ownerIndex, ownerOf, parseIdMark, type OwnerMark } from './marks.ts'
import type { TableRow } from './resolve.ts'
import { elementsOf, type Rows } from './rows.ts'
import type { StrayMember, StrayMembers } from './stray-members.ts'

const orphanLimit = { rows: 50, share: 0.1 } as const

/** More rows than 50, and more than a tenth of a kind, are not deleted without asking. */
export function isExcessive(doomed: number, total: number): boolean {
  return doomed > orphanLimit.rows && doomed > total * orphanLimit.share
}

/** A deletion that waits for an operator. */
export interface HeldDeletion {
  /** Names exactly what would be deleted, so that a confirmation of this is none of anything else. */
  readonly token: string
  /** The kinds of which it would be too much, at least one. */
  readonly kinds: readonly HeldOrphans[]
}

/** Rows whose object this process never saw, and that are too many to be deleted without a confirmation. */
export interface HeldOrphans {
  readonly kind: string
  /** Rows that would be deleted. */
  readonly rows: number
  /** Rows of the kind in all. */
  readonly of: number
  /** Some of their owners, for the report. */
  readonly owners: readonly OwnerMark[]
}

/** All rows of the features' tables that an owner has. */
export function rowsOwnedBy(owner: OwnerMark, rows: Rows, catalog: Catalog): readonly TableRow[] {
  return [...catalog.kindsOfTable.keys()].flatMap((table) =>
    rows.find(table, ownerIndex, owner).map((row) => ({ table, row })),
  )
}

/** Owners that the database names, whether or not anything else does. */
export function ownersIn(rows: Rows, catalog: Catalog): ReadonlySet<OwnerMark> {
  const owners = new Set<OwnerMark>()
  for (const table of catalog.kindsOfTable.keys()) {
    for (const row of rows.scan(table)) {
      const owner = ownerOf(row)
      if (owner !== undefined) owners.add(owner)
    }
  }
  return owners
}

export type DoomedRow = TableRow & { readonly kind: string }

/** What nobody wants. */
export interface Doom {
  /** Rows of owners that this process never saw: those of one go together. */
  readonly orphans: readonly { readonly owner: OwnerMark; readonly rows: readonly DoomedRow[] }[]
  readonly leftOver: readonly DoomedRow[]
  readonly members: readonly StrayMember[]
}

interface HoldBackOptions {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly strays: Pick<StrayMembers, 'count'>
  readonly confirmedToken: string | undefined
}

/**
 * Divides what nobody wants into what may go, and what is held back because there is too much of its kind.
 *
 * Every kind stands alone. But what would take held rows along stays with them: what else their owners have, and the rows and values
 * whose strong references keep them.
 */
export function holdBack(
  doom: Doom,
  { rows, catalog, strays, confirmedToken }: HoldBackOptions,
): { readonly held: HeldDeletion | undefined; readonly free: Doom } {
  const all = [...doom.orphans.flatMap((orphan) => orphan.rows), ...doom.leftOver]
  const kinds = [...excessiveDeletions(all, rows, catalog), ...excessiveRemovals(doom.members, strays)]
  if (kinds.length === 0) return { held: undefined, free: doom }
  const names = new Set(kinds.map(({ kind }) => kind))
  const kept = keptRows(doom, names, catalog)
  const isKept = ({ row }: TableRow) => kept.has(row._uuid)
  const isMemberKept = (one: StrayMember) =>
    names.has(columnName(one)) || (isStrong(one, catalog) && kept.has(String(one.value)))
  const token = tokenOf(all.filter(isKept), doom.members.filter(isMemberKept))
  if (token === confirmedToken) return { held: undefined, free: doom }
  return {
    held: { token, kinds },
    free: {
      orphans: doom.orphans.filter((orphan) => !orphan.rows.some(isKept)),
      leftOver: doom.leftOver.filter((one) => !isKept(one)),
      members: doom.members.filter((one) => !isMemberKept(one)),
    },
  }
}

/** Rows of the given kinds, and all that must stay for them to stay. */
function keptRows(
  { orphans, leftOver }: Doom,
  kinds: ReadonlySet<string>,
  catalog: Catalog,
): ReadonlySet<Uuid> {
  const groups = [...orphans.map((orphan) => orphan.rows), ...leftOver.map((one) => [one])]
  const kept = new Set<Uuid>()
  for (let before = -1; before < kept.size;) {
    before = kept.size
    for (const group of groups) {
      const isKept = group.some(
        (one) => kinds.has(one.kind) || kept.has(one.row._uuid) || keeps(one, kept, catalog),
      )
      if (isKept) for (const { row } of group) kept.add(row._uuid)
    }
  }
  return kept
}

/** Whether a row has a strong reference to one of others: without it, these would go. */
function keeps({ table, row }: TableRow, others: ReadonlySet<Uuid>, catalog: Catalog): boolean {
  const columns = catalog.tables.get(table)?.columns ?? new Map<string, Column>()
  return [...columns].some(
    ([name, { refTable, isWeak }]) =>
      refTable !== undefined &&
      !isWeak &&
      elementsOf(row, name).some((element) => others.has(String(element))),
  )
}

function isStrong({ table, column }: StrayMember, catalog: Catalog): boolean {
  return catalog.tables.get(table)?.columns.get(column)?.isWeak === false
}

function columnName({ kind, column }: StrayMember): string {
  return `${kind}.${column}`
}

/** Finds the kinds of which too much would be deleted. */
export function excessiveDeletions(
  doomed: readonly (TableRow & { readonly kind: string })[],
  rows: Rows,
  catalog: Catalog,
): readonly HeldOrphans[] {
  const byKind = Map.groupBy(doomed, ({ kind }) => kind)
  return [...byKind].flatMap(([kind, some]): readonly HeldOrphans[] => {
    if (some.length <= orphanLimit.rows) return []
    const table = catalog.kinds.get(kind)?.table ?? some[0]?.table ?? ''
    let total = 0
    for (const row of rows.scan(table)) if (kindMarkOf(row) === kind) total++
    // Rows that are not yet adopted count to their kind, too.
    const unmarked = some.filter(({ row }) => kindMarkOf(row) !== kind).length
    if (!isExcessive(some.length, total + unmarked)) return []
    const owners = new Set(some.flatMap(({ row }) => ownerOf(row) ?? []))
    return [{ kind, rows: some.length, of: total + unmarked, owners: [...owners].slice(0, 10) }]
  })
}

/** Finds the shared columns out of which too much would be taken. They are reported as `kind.column`. */
export function excessiveRemovals(
  strays: readonly StrayMember[],
  all: Pick<StrayMembers, 'count'>,
): readonly HeldOrphans[] {
  const byColumn = Map.groupBy(strays, columnName)
  return [...byColumn].flatMap(([name, some]): readonly HeldOrphans[] => {
    const [first] = some
    if (first === undefined || some.length <= orphanLimit.rows) return []
    const total = all.count(first)
    if (!isExcessive(some.length, total)) return []
    return [{ kind: name, rows: some.length, of: total, owners: [] }]
  })
}

function tokenOf(doomed: readonly TableRow[], strays: readonly StrayMember[]): string {
  return deletionToken([
    ...doomed.map(({ row }) => row._uuid),
    ...strays.map(({ container, column, key = '', value }) => `${container} ${column} ${key}${value}`),
  ])
}

/** Names a deletion by what goes: row ids are never used again, so neither is the name. */
export function deletionToken(names: readonly string[]): string {
  return digestOf([...new Set(names)].sort().join('\n'), 12)
}

export function kindMarkOf(row: Parameters<typeof idOf>[0]): string | undefined {
  return parseIdMark(idOf(row) ?? '')?.kind
}
