import type { DeclaredDifference } from './differences.ts'
import { canonicalText, isList, isObject } from './dump.ts'
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
    const a = texts(recorded[kind] ?? [], rules)
    const b = texts(found[kind] ?? [], rules)
    return [...surplus(kind, 'recorded', a, b), ...surplus(kind, 'ours', b, a)]
  })
}

/** Which of the declarations concern a case and a side. */
export function rulesFor(
  declared: readonly DeclaredDifference[],
  side: DeclaredDifference['in'],
  name: string,
): readonly DeclaredDifference[] {
  return declared.filter((rule) => rule.in === side && matches(rule.case ?? '*', name))
}

function texts(objects: readonly JsonObject[], rules: readonly DeclaredDifference[]): readonly string[] {
  if (rules.some((rule) => rule.path === undefined)) return []
  return objects.map((object) =>
    canonicalText(rules.reduce<Json>((rest, rule) => without(rest, rule.path ?? []), object)),
  )
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
  if (isList(value)) return value.map((item) => without(item, path))
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
