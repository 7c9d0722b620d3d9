import type { DeclaredDifference } from './differences.ts'
import { canonicalText, countedOnce, isList, isObject } from './dump.ts'
import type { Dump, Json, JsonObject } from './dump.ts'

/** An object, or a part of one, that only one side has. */
export interface Difference {
  readonly kind: string
  readonly side: 'recorded' | 'ours'
  readonly object: JsonObject
}

/** Compares what was recorded with what was found, without the differences that are declared. */
export function compareDumps(
  recorded: Dump,
  found: Dump,
  declared: readonly DeclaredDifference[],
): readonly Difference[] {
  const kinds = [...new Set([...Object.keys(recorded), ...Object.keys(found)])].sort()
  return kinds.flatMap((kind) => {
    const rules = declared.filter((rule) => matches(rule.kind, kind))
    // Marks, which are left out, tell rows apart that are the same without them.
    const count = (all: readonly string[]) => (countedOnce.has(kind) ? [...new Set(all)] : all)
    const a = count(texts(recorded[kind] ?? [], rules))
    const b = count(texts(found[kind] ?? [], rules))
    return [...surplus(kind, 'recorded', a, b), ...surplus(kind, 'ours', b, a)]
  })
}

/** Which of the declarations concern a side and a step of a case. */
export function rulesFor(
  declared: readonly DeclaredDifference[],
  side: DeclaredDifference['in'],
  name: string,
  step: string,
): readonly DeclaredDifference[] {
  return declared.filter(
    (rule) => rule.in === side && matches(rule.case ?? '*', name) && matches(rule.step ?? '*', step),
  )
}

function texts(objects: readonly JsonObject[], rules: readonly DeclaredDifference[]): readonly string[] {
  return objects.flatMap((object) => {
    const concerning = rules.filter(({ row = {} }) =>
      Object.entries(row).every(([path, pattern]) => has(object, path.split('.'), pattern)),
    )
    if (concerning.some((rule) => rule.path === undefined)) return []
    return [canonicalText(concerning.reduce<Json>((rest, { path = [] }) => without(rest, path), object))]
  })
}

/** Whether an object has, where the path leads, a value whose text matches; a list, if one of its items does. */
function has(value: Json | undefined, path: readonly string[], pattern: string): boolean {
  if (isList(value)) return value.some((item) => has(item, path, pattern))
  const [key, ...rest] = path
  if (key === undefined) return value !== undefined && !isObject(value) && matches(pattern, String(value))
  return isObject(value) && has(value[key], rest, pattern)
}

function surplus(
  kind: string,
  side: Difference['side'],
  from: readonly string[],
  others: readonly string[],
): readonly Difference[] {
  const left = [...others]
  return from.flatMap((text) => {
    const index = left.indexOf(text)
    if (index < 0) return [{ kind, side, object: JSON.parse(text) as JsonObject }]
    left.splice(index, 1)
    return []
  })
}

/** Leaves out what the path names, and whatever is empty without it. */
function without(value: Json, path: readonly string[]): Json {
  const [pattern, ...rest] = path
  if (pattern === undefined) return value
  if (isList(value)) {
    const isEnd = rest.length === 0
    return value
      .filter((item) => !(isEnd && typeof item === 'string' && matches(pattern, item)))
      .map((item) => without(item, path))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): [string, Json][] => {
      if (!matches(pattern, key)) return [[key, item]]
      if (rest.length === 0) return []
      const reduced = without(item, rest)
      return isHollow(reduced) ? [] : [[key, reduced]]
    }),
  )
}

function isHollow(value: Json): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
}

function matches(pattern: string, text: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}$`).test(text)
}
