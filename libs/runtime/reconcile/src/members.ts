import type { Atom, RowBase, Uuid } from 'ovsdb-client'
import type { Draft } from './draft.ts'
import { NewRow } from './new-row.ts'
import { sharedContainersOf, type Container } from './containers.ts'
import type { MapMember, Member, SetMember } from './feature.ts'
import { idIndex, idMark } from './marks.ts'
import { isEntry } from './places.ts'
import { isRef, tokenOf, type Element } from './values.ts'
import { isIn, mapOf } from './rows.ts'
import { tableOf, type Want } from './want.ts'

/** Plans what a key contributes to rows: what is missing is added, what it no longer wants is taken out. */
export function planMembers(want: Want, draft: Draft): void {
  // It is asked of rows in sets and of what is released, and a key may have very many other values.
  const isAsked = ({ value }: SetMember): boolean => want.released.length > 0 || isRef(value)
  const kept = new Holdings()
  for (const member of want.desired.members) {
    if (isEntry(member)) {
      putEntry(want, member, draft)
      continue
    }
    const there = addValue(want, member, draft)
    if (there !== undefined && isAsked(member)) kept.add(there.container, member.column, there.value)
  }
  leaveContainers(want, kept, draft)
  for (const member of want.released) {
    if ([member.of, member.value].some((one) => isDoomed(one, draft))) draft.touched.add(want.owner)
    if (isEntry(member)) releaseEntry(want, member, draft)
    else releaseValue(want, member, kept, draft)
  }
}

interface PresentRow {
  readonly table: string
  readonly row: RowBase
}

/** The container of a contribution, if it is there or comes into being with this plan. */
function containerOf(
  { of }: Member,
  { resolution, request, inserts }: Draft,
): PresentRow | NewRow | undefined {
  const container = resolution.resolve(of)
  if (container === undefined) return undefined
  if (typeof container === 'object') return inserts.get(container.named)
  const table = tableOf(of, request.catalog)
  const row = table === undefined ? undefined : request.rows.get(table, String(container))
  return table === undefined || row === undefined ? undefined : { table, row }
}

function resolved(value: MapMember['value'], { resolution }: Draft): Element | undefined {
  return isRef(value) ? resolution.resolve(value) : value
}

/** Values in columns of rows. */
class Holdings {
  readonly #values = new Map<Uuid, Map<string, Set<Atom>>>()

  add(container: Uuid, column: string, value: Element): void {
    const columns = this.#values.getOrInsertComputed(container, () => new Map())
    columns.getOrInsertComputed(column, () => new Set()).add(atomOf(value))
  }

  has(container: Uuid, column: string, value: Element): boolean {
    return this.#values.get(container)?.get(column)?.has(atomOf(value)) === true
  }
}

/** No column has both names of new rows and texts. */
function atomOf(value: Element): Atom {
  return typeof value === 'object' ? tokenOf(value) : value
}

interface Contributed {
  readonly container: Uuid
  readonly value: Element
}

/** Answers the value and where it is, unless the container is inserted: that cannot hold an old value. */
function addValue(want: Want, member: SetMember, draft: Draft): Contributed | undefined {
  const { edits, touched } = draft
  const container = containerOf(member, draft)
  const value = resolved(member.value, draft)
  if (container === undefined || value === undefined) return undefined
  if (container instanceof NewRow) {
    container.add(member.column, value)
    touched.add(want.owner)
    return undefined
  }
  const { table, row } = container
  if (typeof value === 'object' || !isIn(value, row, member.column)) {
    edits.insert(table, row._uuid, member.column, value)
    touched.add(want.owner)
  }
  return { container: row._uuid, value }
}

function putEntry(want: Want, member: MapMember, draft: Draft): void {
  const { edits, touched } = draft
  const { column, key } = member
  const container = containerOf(member, draft)
  const value = resolved(member.value, draft)
  if (container === undefined) return
  // The row that it refers to is awaited.
  if (value === undefined && member.value !== undefined) return
  if (container instanceof NewRow) {
    if (value === undefined) return
    container.put(column, key, value)
    touched.add(want.owner)
    return
  }
  const { table, row } = container
  const current = mapOf(row, column)[key]
  if (current === value) return
  if (current !== undefined) edits.takeEntry(table, row._uuid, column, key, current)
  if (value !== undefined) edits.putEntry(table, row._uuid, column, key, value)
  touched.add(want.owner)
}

/** Takes the key's own rows out of containers of declared memberships in which it no longer wants them. */
function leaveContainers(want: Want, kept: Holdings, draft: Draft): void {
  const { resolution, request, edits, touched } = draft
  const isMember = ({ kind, column }: Container): boolean =>
    want.memberships.some((one) => one.kind === kind && one.column === column)
  for (const target of resolution.targetsOf.get(want.owner) ?? []) {
    if (target.existing === undefined) continue
    const uuid = target.existing._uuid
    for (const container of sharedContainersOf(target.row.kind.table, uuid, request)) {
      if (!isMember(container)) continue
      if (kept.has(container.row._uuid, container.column, uuid)) continue
      touched.add(want.owner)
      if (resolution.doomed.has(container.row._uuid)) continue
      edits.delete(container.table, container.row._uuid, container.column, uuid)
    }
  }
}

function releaseValue(want: Want, member: SetMember, kept: Holdings, draft: Draft): void {
  const { edits, touched } = draft
  const container = containerOf(member, draft)
  const value = resolved(member.value, draft)
  if (container === undefined || container instanceof NewRow) return
  if (value === undefined || typeof value === 'object') return
  const { table, row } = container
  if (kept.has(row._uuid, member.column, value) || !isIn(value, row, member.column)) return
  edits.delete(table, row._uuid, member.column, value)
  touched.add(want.owner)
}

/** An entry that somebody has made another one is left to him, unless the column is composed: then nobody else may have one. */
function releaseEntry(want: Want, member: MapMember, draft: Draft): void {
  const { of, column, key } = member
  const container = containerOf(member, draft)
  if (container === undefined || container instanceof NewRow) return
  const { table, row } = container
  const current = mapOf(row, column)[key]
  const isComposed = draft.request.catalog.kinds.get(of.kind)?.composed?.includes(column) === true
  if (current === undefined || !(isComposed || current === resolved(member.value, draft))) return
  draft.edits.takeEntry(table, row._uuid, column, key, current)
  draft.touched.add(want.owner)
}

/** What goes takes the value along, once the plan is carried out: until then the key does not have what it wants. */
function isDoomed(one: MapMember['value'], { request, resolution }: Draft): boolean {
  const table = isRef(one) ? tableOf(one, request.catalog) : undefined
  if (!isRef(one) || table === undefined || !request.catalog.kinds.has(one.kind)) return false
  return request.rows.find(table, idIndex, idMark(one)).some(({ _uuid }) => resolution.doomed.has(_uuid))
}
