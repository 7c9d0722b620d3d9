import type { JsonValue } from './types.ts'

/** A fragment of an object as RFC 7386 has it: `null` removes a key, arrays are replaced as a whole. */
export type MergeFragment = { readonly [key: string]: JsonValue }

type Fields = Readonly<Record<string, unknown>>

/**
 * Computes the smallest merge patch that brings `current` to what `desired` asks for.
 *
 * `undefined` means that nothing differs. A key of `desired` whose value is `undefined` says nothing about that key.
 * To remove keys from a map that is not there is no difference, where RFC 7386 taken literally would make an empty map.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7386
 */
export function mergePatch(current: unknown, desired: MergeFragment): MergeFragment | undefined {
  const present = isFields(current) ? current : {}
  const differing: [string, JsonValue][] = []
  for (const [key, wanted] of Object.entries(desired)) {
    const difference = differenceOf(Object.hasOwn(present, key) ? present[key] : undefined, wanted)
    if (difference !== undefined) differing.push([key, difference])
  }
  if (differing.length === 0) return isFields(current) ? undefined : {}
  return Object.fromEntries(differing)
}

/**
 * Applies a merge patch to what there is, which stays as it is. A key whose value is `undefined` says nothing.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7386#section-2
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch
  // Users choose keys: one is `__proto__`.
  const result = new Map(isFields(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key)
    else if (value !== undefined) result.set(key, applyMergePatch(result.get(key), value))
  }
  return Object.fromEntries(result)
}

/** The value to send for one key; `undefined` when the present one is right. An absent value is `undefined`. */
function differenceOf(present: unknown, wanted: JsonValue): JsonValue | undefined {
  if (wanted === undefined) return undefined
  // The server never keeps a null in an object, but one that it is sent may pass through here.
  if (wanted === null) return present === undefined ? undefined : null
  if (!isFragment(wanted)) return isEqualJson(present, wanted) ? undefined : wanted
  // Nothing is there to remove from. An empty map would be sent for ever: the server drops it from its own kinds.
  if (present === undefined && isOnlyRemoval(wanted)) return undefined
  return mergePatch(present, wanted)
}

/** The fragment removes keys, at any depth, and sets none. An empty one sets the empty object. */
function isOnlyRemoval(fragment: MergeFragment): boolean {
  const values = Object.values(fragment).filter((value) => value !== undefined)
  return (
    values.length > 0 &&
    values.every((value) => value === null || (isFragment(value) && isOnlyRemoval(value)))
  )
}

/**
 * Compares two JSON values; numbers by value, whether number or bigint.
 *
 * Beyond 64 bits the server keeps a number as a float, so two integers of that size are equal when their floats are:
 * what was written would differ from what is read for ever otherwise.
 */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNumeric(a) && isNumeric(b)) return isEqualNumber(a, b)
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((element, index) => isEqualJson(element, b[index]))
  }
  if (!isFields(a) || !isFields(b)) return false
  const keys = definedKeys(a)
  return (
    keys.length === definedKeys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqualJson(a[key], b[key]))
  )
}

const INT64_LIMIT = 2 ** 63

function isEqualNumber(a: number | bigint, b: number | bigint): boolean {
  const [left, right] = [Number(a), Number(b)]
  if (left !== right) return false
  return Math.abs(left) >= INT64_LIMIT || (Number.isInteger(left) && BigInt(a) === BigInt(b))
}

function definedKeys(fields: Fields): string[] {
  return Object.keys(fields).filter((key) => fields[key] !== undefined)
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFragment(value: JsonValue): value is MergeFragment {
  return isFields(value)
}
