import type { Atom } from 'ovsdb-client'
import type { MapMember, Member, SetMember } from './feature.ts'
import { idMark, type IdMark } from './marks.ts'
import { isRef, tokenOf } from './values.ts'

/** Where a contribution stands: a value of a set of a row, or a key of a map of a row, whatever its value. */
export type Place = string

export function isEntry(member: Member): member is MapMember {
  return 'key' in member
}

export function placeOf(member: Member): Place {
  const container = idMark(member.of)
  return isEntry(member)
    ? entryPlace(container, member.column, member.key)
    : elementPlace(container, member.column, member.value)
}

export function elementPlace(container: IdMark, column: string, value: SetMember['value']): Place {
  return `${container}\n${column}\n${valueToken(value)}`
}

export function entryPlace(container: IdMark, column: string, key: Atom): Place {
  return `${container}\n${column}\n${key}`
}

/** Makes contributed values comparable: equal tokens, equal values. */
export function valueToken(value: MapMember['value']): string {
  if (value === undefined) return ''
  return isRef(value) ? `@${idMark(value)}` : tokenOf(value)
}
