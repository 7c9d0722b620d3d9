import type { KubeOvnError } from '@kube-ovn/errors'
import type { RowKind, RowRef } from '@kube-ovn/ovn-names'
import type { RowBase, Uuid } from 'ovsdb-client'
import type { Catalog, Column } from './catalog.ts'
import { InvalidDesiredError } from './errors.ts'
import type { ColumnValue, Desired, Member, Membership, OwnedRow } from './feature.ts'
import { idMark, type IdMark, type OwnerMark } from './marks.ts'
import { isEntry, placeOf, valueToken } from './places.ts'
import { isRef, mismatchOf, refsIn } from './values.ts'

/** What one key wants of the database. */
export interface Want {
  readonly owner: OwnerMark
  /** The kinds and memberships of the key's feature: where to look for what it had before. */
  readonly kinds: readonly RowKind[]
  readonly memberships: readonly Membership[]
  readonly desired: Pick<Desired, 'rows' | 'members'>
  /** Whether the key could want a row of this name, as its feature says; absent: any. */
  readonly mayOwn?: (ref: RowRef) => boolean
  /** Values and entries that the key contributed before, and that no key contributes any more. */
  readonly released: readonly Member[]
  /** Rows without marks that the key wanted before: nothing else tells that they are its own. */
  readonly unmarked?: readonly IdMark[]
}

/** Rows that carry no owner, known by what they are. */
export interface Adoptable {
  /** Leaves out rows that are to become others, by what is wanted. */
  find(id: IdMark, isWanted: (id: IdMark) => boolean): Uuid | undefined
  /** What a row is by its own content, whatever its marks say. */
  identify(table: string, row: RowBase): IdMark | undefined
  /** The same, and after it all else that the row may be. */
  identities(table: string, row: RowBase): readonly IdMark[]
}

const singletonKind = 'singleton'

/** The only row of a table, which has no kind: it is referred to, and waited for, under this name. */
export function singletonRef(table: string): RowRef {
  return { kind: singletonKind, id: table }
}

export function isSingleton(ref: RowRef): boolean {
  return ref.kind === singletonKind
}

/** The table of the rows that a reference may mean. */
export function tableOf(ref: RowRef, catalog: Catalog): string | undefined {
  return isSingleton(ref) ? ref.id : catalog.kinds.get(ref.kind)?.table
}

/** A reference, and whether its row may be missing: a weak reference in a set is added when its row appears. */
export interface Reference {
  readonly ref: RowRef
  readonly isOptional: boolean
}

/** Every row that a want's rows and members name; `isNew` says for which rows `onInsert` counts. */
export function referencesOf(
  want: Want,
  catalog: Catalog,
  isNew: (row: OwnedRow) => boolean,
): readonly Reference[] {
  const references: Reference[] = []
  for (const row of want.desired.rows) {
    const columns = catalog.tables.get(row.kind.table)?.columns
    for (const values of isNew(row) ? [row.columns, row.onInsert] : [row.columns]) {
      for (const name in values) {
        const column = columns?.get(name)
        if (column === undefined) continue
        for (const ref of refsIn(column, values[name])) references.push({ ref, isOptional: mayLack(column) })
      }
    }
  }
  const isOwn = namesOneOf(want.desired.rows)
  let last: RowRef | undefined
  for (const member of want.desired.members) {
    // Of a key's members most are of one row.
    if (member.of.id !== last?.id || member.of.kind !== last.kind)
      references.push({ ref: member.of, isOptional: false })
    last = member.of
    if (isRef(member.value)) references.push({ ref: member.value, isOptional: !isOwn(member.value) })
  }
  return references
}

/** So many are compared faster than they are looked up. */
const fewRows = 8

/** Tells of a reference whether it is to one of these rows. */
export function namesOneOf(rows: readonly OwnedRow[]): (ref: RowRef) => boolean {
  if (rows.length <= fewRows)
    return (ref) => rows.some((row) => row.id === ref.id && row.kind.name === ref.kind)
  // Without a text of both for each row: there may be thousands.
  const ids = new Map<string, Set<string>>()
  for (const { kind, id } of rows) ids.getOrInsertComputed(kind.name, () => new Set()).add(id)
  return (ref) => ids.get(ref.kind)?.has(ref.id) === true
}

function mayLack(column: Column): boolean {
  return column.shape === 'set' && column.isWeak && column.minimum === 0
}

/** Finds what breaks the feature's declaration or the schema; a plan leaves such a key alone. */
export function defectOf(want: Want, catalog: Catalog): KubeOvnError | undefined {
  const defectIn = ({ kind, id }: OwnedRow, what: string, column?: string): KubeOvnError =>
    new InvalidDesiredError(want.owner, idMark({ kind: kind.name, id }), column, what)
  const seen = new Map<RowKind, Set<string>>()
  for (const row of want.desired.rows) {
    if (!want.kinds.includes(row.kind)) return defectIn(row, 'the feature does not declare the kind')
    const ofKind = seen.getOrInsertComputed(row.kind, () => new Set())
    if (ofKind.has(row.id)) return defectIn(row, 'the row is named twice')
    ofKind.add(row.id)
    if (want.mayOwn?.({ kind: row.kind.name, id: row.id }) === false)
      return defectIn(row, 'the feature says that the key can not want the row')
    const columns = catalog.tables.get(row.kind.table)?.columns
    for (const values of [row.columns, row.onInsert]) {
      for (const name in values) {
        const problem = columnDefect(row.kind, name, columns?.get(name), values[name])
        if (problem !== undefined) return defectIn(row, problem, name)
      }
    }
  }
  for (const member of want.desired.members) {
    const problem = memberDefect(member, want, catalog)
    if (problem !== undefined) {
      return new InvalidDesiredError(want.owner, idMark(member.of), member.column, problem)
    }
  }
  const entries = want.desired.members.filter(isEntry)
  const values = new Map(entries.map((entry) => [placeOf(entry), valueToken(entry.value)]))
  const twice = entries.find((entry) => values.get(placeOf(entry)) !== valueToken(entry.value))
  if (twice === undefined) return undefined
  return new InvalidDesiredError(want.owner, idMark(twice.of), twice.column, 'an entry has two values')
}

function columnDefect(
  kind: RowKind,
  name: string,
  column: Column | undefined,
  value: ColumnValue,
): string | undefined {
  if (column === undefined) return 'the table has no such column'
  return kind.shared.includes(name) ? 'the column is shared; contribute members' : mismatchOf(column, value)
}

function memberDefect(member: Member, want: Want, catalog: Catalog): string | undefined {
  const table = tableOf(member.of, catalog)
  const shape = catalog.tables.get(table ?? '')?.columns.get(member.column)?.shape
  // A kind that no feature declares has no rows, and its keys wait for some.
  if (table !== undefined) {
    if (isEntry(member) && shape !== 'map') return 'the table has no such map column'
    if (!isEntry(member) && shape === 'map') return 'the column is a map'
  }
  if (isSingleton(member.of)) return isEntry(member) ? undefined : 'only entries of maps are shared'
  const isDeclared = want.memberships.some(
    (one) => one.kind === member.of.kind && one.column === member.column,
  )
  if (!isDeclared) return 'the feature does not declare the membership'
  const kind = catalog.kinds.get(member.of.kind)
  return kind === undefined || kind.shared.includes(member.column) ? undefined : 'the column is not shared'
}
