/** A value of JSON, as dumps hold it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

/** Objects by table or kind, normalised, in a fixed order. */
export type Dump = Readonly<Record<string, readonly JsonObject[]>>

/** Tables into which upstream may insert the same row twice: equal ones count once. */
export const countedOnce: ReadonlySet<string> = new Set([
  'Logical_Router_Static_Route',
  'Logical_Router_Policy',
])

/** What was found after a step. */
export interface Snapshot {
  readonly northbound: Dump
  readonly kubernetes: Dump
}

/** Applies a function to every text in a value, keys included. */
export function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value)
  if (isList(value)) return value.map((item) => mapTexts(item, map))
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [map(key), mapTexts(item, map)]))
  }
  return value
}

/** Text that is the same for equal values, whatever the order of their keys. */
export function canonicalText(value: Json): string {
  return JSON.stringify(sortKeys(value))
}

export function sortKeys(value: Json): Json {
  if (isList(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key] ?? null)]),
  )
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
