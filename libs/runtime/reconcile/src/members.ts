import type { Uuid } from 'ovsdb-client'
import type { Draft } from './plan.ts'
import { sharedContainersOf } from './containers.ts'
import type { MapMember, SetMember } from './feature.ts'
import { idIndex, idMark } from './marks.ts'
import { isArray, isIn, mapOf } from './rows.ts'
import { isRef, mapDifference, tokenOf, type Element } from './values.ts'
import { singletonRef, type Want } from './want.ts'

/** Plans a key's values in sets that others own: what is missing is added, what it no longer wants is taken out. */
export function planMembers(want: Want, draft: Draft): void {
  const kept = new Set<string>()
  for (const member of want.desired.members) {
    if (!('of' in member)) {
      planEntry(want, member, draft)
      continue
    }
    const place = addValue(want, member, draft)
    if (place !== undefined) kept.add(place)
  }
  leaveContainers(want, kept, draft)
  for (const member of want.released) releaseValue(want, member, kept, draft)
}

function placeOf(container: Uuid, column: string, value: Element): string {
  return `${container} ${column} ${tokenOf(value)}`
}

/** Answers the place of a value in an existing container; a container that is inserted cannot hold an old value. */
function addValue(want: Want, member: SetMember, draft: Draft): string | undefined {
  const { resolution, request, edits, inserts, touched } = draft
  const container = resolution.resolve(member.of)
  const value = isRef(member.value) ? resolution.resolve(member.value) : member.value
  if (container === undefined || value === undefined) return undefined
  if (typeof container === 'object') {
    const columns = inserts.get(container.named)
    if (columns === undefined) return undefined
    const set = columns[member.column]
    const elements: readonly Element[] = isArray(set) ? set : []
    const isNew = !elements.some((element) => tokenOf(element) === tokenOf(value))
    columns[member.column] = isNew ? [...elements, value] : elements
    touched.add(want.owner)
    return undefined
  }
  const table = request.catalog.kinds.get(member.of.kind)?.table
  const row = table === undefined ? undefined : request.rows.get(table, String(container))
  if (table === undefined || row === undefined) return undefined
  if (typeof value === 'object' || !isIn(value, row, member.column)) {
    edits.insert(table, row._uuid, member.column, value)
    touched.add(want.owner)
  }
  return placeOf(row._uuid, member.column, value)
}

/** Takes the key's own rows out of containers of declared memberships in which it no longer wants them. */
function leaveContainers(want: Want, kept: ReadonlySet<string>, draft: Draft): void {
  const { resolution, request, edits, touched } = draft
  const memberships = new Set(want.memberships.map(({ kind, column }) => `${kind} ${column}`))
  for (const target of resolution.targetsOf.get(want.owner) ?? []) {
    if (target.existing === undefined) continue
    const uuid = target.existing._uuid
    for (const container of sharedContainersOf(target.row.kind.table, uuid, request)) {
      if (!memberships.has(`${container.kind} ${container.column}`)) continue
      if (kept.has(placeOf(container.row._uuid, container.column, uuid))) continue
      touched.add(want.owner)
      if (resolution.doomed.has(container.row._uuid)) continue
      edits.delete(container.table, container.row._uuid, container.column, uuid)
    }
  }
}

function releaseValue(want: Want, member: SetMember, kept: ReadonlySet<string>, draft: Draft): void {
  const { resolution, request, edits, touched } = draft
  if ([member.of, member.value].some((one) => isDoomed(one, draft))) touched.add(want.owner)
  const container = resolution.resolve(member.of)
  const value = isRef(member.value) ? resolution.resolve(member.value) : member.value
  const table = request.catalog.kinds.get(member.of.kind)?.table
  if (
    typeof container !== 'string' ||
    value === undefined ||
    typeof value === 'object' ||
    table === undefined
  )
    return
  const row = request.rows.get(table, container)
  if (row === undefined || kept.has(placeOf(container, member.column, value))) return
  if (!isIn(value, row, member.column)) return
  edits.delete(table, container, member.column, value)
  touched.add(want.owner)
}

/** What goes takes the value along, once the plan is carried out: until then the key does not have what it wants. */
function isDoomed(one: SetMember['value'], { request, resolution }: Draft): boolean {
  const table = isRef(one) ? request.catalog.kinds.get(one.kind)?.table : undefined
  if (!isRef(one) || table === undefined) return false
  return request.rows.find(table, idIndex, idMark(one)).some(({ _uuid }) => resolution.doomed.has(_uuid))
}

function planEntry(want: Want, member: MapMember, draft: Draft): void {
  const { resolution, request, edits, touched } = draft
  const uuid = resolution.resolve(singletonRef(member.singleton))
  const row = typeof uuid === 'string' ? request.rows.get(member.singleton, uuid) : undefined
  if (row === undefined) return
  const wanted = member.value === undefined ? {} : { [member.key]: member.value }
  const difference = mapDifference(mapOf(row, member.column), { [member.key]: member.value }, wanted)
  if (difference.remove.length === 0 && Object.keys(difference.put).length === 0) return
  edits.changeMap(member.singleton, row._uuid, member.column, difference)
  touched.add(want.owner)
}
