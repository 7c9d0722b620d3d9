import type { ColumnType } from './column-type.ts'
import { nextVersion } from './map-versions.ts'
import type { Atom, Value } from './types.ts'

/** Orders atoms of one type: numbers by size, strings by UTF-16 code unit, `false` before `true`. */
export function compareAtoms(a: Atom, b: Atom): number {
  if (a < b) return -1
  return a > b ? 1 : 0
}

/** Tells whether two values of one column are the same. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object') return false
  if (isSet(a)) return isSet(b) && a.length === b.length && a.every((atom, index) => atom === b[index])
  if (isSet(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

export function isSet(value: Value): value is readonly Atom[] {
  return Array.isArray(value)
}

/**
 * Applies what a `modify` of update2 says about one column, and answers `old` itself when it says nothing new.
 *
 * For a column that takes one value, the difference is the new value. For a set it holds the elements that are
 * in either the old or the new value but not in both. For a map: an entry that the old value has with the same
 * value is removed, any other is added or replaces the one of the same key.
 *
 * @see ovsdb-server(7), section 4.1.14, Update2 Notification
 */
export function applyDifference(type: ColumnType, old: Value, difference: Value): Value {
  if (type.shape === 'single' || (type.shape === 'map' && type.isSingular)) {
    return sameValue(old, difference) ? old : difference
  }
  if (isSet(old) && isSet(difference)) return symmetricDifference(old, difference)
  return nextVersion(old as Readonly<Record<string, Atom>>, difference as Readonly<Record<string, Atom>>)
}

/** Tells whether a set, ascending as rows have it, has an element: that takes sixteen comparisons with a set of 50,000. */
export function hasElement(set: readonly Atom[], element: Atom): boolean {
  return set[placeOf(set, element, 0)] === element
}

/**
 * Puts into an ascending set what an ascending difference has and the set has not, and takes out the rest of it.
 *
 * What lies between is copied without a look: a port that joins a switch of 50,000 is compared with sixteen of them.
 */
function symmetricDifference(set: readonly Atom[], difference: readonly Atom[]): readonly Atom[] {
  if (difference.length === 0) return set
  // Known to be large enough: an array that grows would be copied several times.
  const result: (Atom | undefined)[] = []
  result.length = set.length + difference.length
  let length = 0
  let from = 0
  for (const atom of difference) {
    const place = placeOf(set, atom, from)
    while (from < place) result[length++] = set[from++]
    if (set[from] === atom) from++
    else result[length++] = atom
  }
  while (from < set.length) result[length++] = set[from++]
  result.length = length
  return result as readonly Atom[]
}

/** The first place, from one on, at which an ascending set has nothing less than an atom. */
function placeOf(set: readonly Atom[], atom: Atom, from: number): number {
  let low = from
  let high = set.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = set[middle]
    if (found !== undefined && found < atom) low = middle + 1
    else high = middle
  }
  return low
}

/** Visits, in ascending order, what only one of two ascending sets contains. */
export function compareSets(
  before: readonly Atom[],
  after: readonly Atom[],
  onlyBefore: (atom: Atom) => void,
  onlyAfter: (atom: Atom) => void,
): void {
  let i = 0
  let j = 0
  for (;;) {
    const left = before[i]
    const right = after[j]
    if (left === right) {
      if (left === undefined) return
      i++
      j++
      continue
    }
    const order = left === undefined ? 1 : right === undefined ? -1 : compareAtoms(left, right)
    if (order <= 0) i++
    if (order >= 0) j++
    if (order < 0 && left !== undefined) onlyBefore(left)
    if (order > 0 && right !== undefined) onlyAfter(right)
  }
}
