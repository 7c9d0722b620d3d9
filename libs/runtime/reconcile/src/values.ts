import type { RowRef } from '@kube-ovn/ovn-names'
import type { Atom, NamedUuid, NewValue, RowBase } from 'ovsdb-client'
import type { Column } from './catalog.ts'
import type { ColumnValue } from './feature.ts'
import { columnOf, elementsOf, isArray, mapOf } from './rows.ts'

/** An atom, or the name of a row that the same transaction inserts. */
export type Element = Atom | NamedUuid

/** Finds the row that a reference names; `undefined` when there is none. */
export type Resolve = (ref: RowRef) => Element | undefined

export function isRef(value: unknown): value is RowRef {
  return typeof value === 'object' && value !== null && 'kind' in value && 'id' in value
}

/** A value for a map column. That it is no reference is said by the column, not by the value. */
export function isMapValue(value: ColumnValue): value is Readonly<Record<string, Atom | RowRef | undefined>> {
  return typeof value === 'object' && !isArray(value)
}

/** Makes elements comparable: equal tokens, equal elements. */
export function tokenOf(element: Element): string {
  return typeof element === 'object' ? `@${element.named}` : `${typeof element}:${element}`
}

/** References in a column's value, in the order in which they stand. */
export function refsIn(column: Column, value: ColumnValue): readonly RowRef[] {
  // Most columns name no row at all.
  if (typeof value !== 'object') return none
  if (column.shape === 'map') return Object.values(value).filter(isRef)
  if (isArray(value)) return value.filter(isRef)
  return isRef(value) ? [value] : none
}

const none: readonly never[] = []

/** Says what makes a value unfit for its column; `undefined` when nothing does. */
export function mismatchOf(column: Column, value: ColumnValue): string | undefined {
  const isList = isArray(value)
  const isRecord = typeof value === 'object' && !isList && !(column.shape !== 'map' && isRef(value))
  switch (column.shape) {
    case 'map':
      return value === undefined || isRecord ? undefined : 'the column is a map'
    case 'set':
      return isRecord ? 'the column is a set' : undefined
    default:
      return isRecord || isList ? 'the column has a single value' : undefined
  }
}

/** A desired value with references resolved and duplicates dropped. An element that resolves to nothing is left out. */
export function resolveValue(column: Column, value: ColumnValue, resolve: Resolve): NewValue {
  if (column.shape === 'map') return resolveMap(value, resolve)
  const elements = isArray(value) ? resolveElements(value, resolve) : resolveElement(value, resolve)
  return column.shape === 'set' ? elements : (elements[0] ?? column.initial)
}

function resolveElements(values: readonly (Atom | RowRef)[], resolve: Resolve): readonly Element[] {
  const [first] = values
  // A single one has no duplicate.
  if (values.length <= 1) return resolveElement(first, resolve)
  const byToken = new Map<string, Element>()
  for (const value of values)
    for (const element of resolveElement(value, resolve)) byToken.set(tokenOf(element), element)
  return [...byToken.values()]
}

/** The element, if there is one. */
function resolveElement(item: ColumnValue, resolve: Resolve): readonly Element[] {
  const element = isRef(item) ? resolve(item) : typeof item === 'object' ? undefined : item
  return element === undefined ? none : [element]
}

function resolveMap(value: ColumnValue, resolve: Resolve): Readonly<Record<string, Element>> {
  const result: Record<string, Element> = {}
  if (!isMapValue(value)) return result
  for (const key in value) {
    const item = value[key]
    const element = isRef(item) ? resolve(item) : item
    if (element !== undefined) result[key] = element
  }
  return result
}

/** An empty set, an empty map or a default: what a new row has without being told. */
export function isInitial(column: Column, value: NewValue): boolean {
  if (value === undefined) return true
  if (isArray(value)) return value.length === 0
  if (column.shape === 'map') return Object.keys(value).length === 0
  return column.shape === 'one' && value === column.initial
}

/** How a set must change. */
interface SetDifference {
  readonly missing: readonly Element[]
  readonly surplus: readonly Atom[]
}

export function setDifference(current: readonly Atom[], wanted: readonly Element[]): SetDifference {
  const have = new Set(current.map(tokenOf))
  const want = new Set(wanted.map(tokenOf))
  return {
    missing: wanted.filter((element) => !have.has(tokenOf(element))),
    surplus: current.filter((atom) => !want.has(tokenOf(atom))),
  }
}

/** How a map must change: entries to set (new or different) and keys to remove (gone or different). */
export interface MapDifference {
  readonly put: Readonly<Record<string, Element>>
  readonly remove: readonly string[]
}

/** Compares the keys that `asked` names only; one that it names without a value is removed. */
export function mapDifference(
  current: Readonly<Record<string, Atom>>,
  asked: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, Element>>,
): MapDifference {
  const put: Record<string, Element> = {}
  const remove: string[] = []
  for (const key of Object.keys(asked)) {
    const have = current[key]
    const want = wanted[key]
    if (have === want) continue
    if (have !== undefined) remove.push(key)
    if (want !== undefined) put[key] = want
  }
  return { put, remove }
}

function isEqualMap(
  current: Readonly<Record<string, Atom>>,
  wanted: Readonly<Record<string, Element>>,
): boolean {
  const keys = Object.keys(wanted)
  return keys.length === Object.keys(current).length && keys.every((key) => current[key] === wanted[key])
}

/** Whether a row's column already is what is wanted, compared as the column's shape demands. */
export function isEqualValue(row: RowBase, name: string, column: Column, wanted: NewValue): boolean {
  if (column.shape === 'map') return isEqualMap(mapOf(row, name), asMap(wanted))
  if (column.shape === 'set') {
    const [current, elements] = [elementsOf(row, name), asElements(wanted)]
    if (current.length === elements.length && current.every((atom, n) => atom === elements[n])) return true
    const { missing, surplus } = setDifference(current, elements)
    return missing.length === 0 && surplus.length === 0
  }
  return columnOf(row, name) === wanted
}

export function asElements(value: NewValue): readonly Element[] {
  if (value === undefined) return []
  if (isArray(value)) return value
  return typeof value !== 'object' || isNamed(value) ? [value] : []
}

const emptyMap: Readonly<Record<string, Element>> = Object.freeze({})

export function asMap(value: NewValue): Readonly<Record<string, Element>> {
  return typeof value !== 'object' || isArray(value) ? emptyMap : (value as Readonly<Record<string, Element>>)
}

/** Whether a value is the name of a new row, and no map. */
export function isNamed(value: object): value is NamedUuid {
  return 'named' in value && Object.keys(value).length === 1
}
