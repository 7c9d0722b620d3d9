import type { Difference } from './compare.ts'
import { isList, isObject, type Json, type JsonObject } from './dump.ts'

/** Two objects that have at least this share of their fields in common are taken for the same one. */
const similarEnough = 0.5

/**
 * Describes differences for a reader: objects of both sides that are one and the same are shown together, by the fields
 * in which they differ, `-` as recorded and `+` as ours; others are shown whole.
 */
export function describeDifferences(differences: readonly Difference[]): readonly string[] {
  const byKind = Map.groupBy(differences, ({ kind }) => kind)
  return [...byKind].flatMap(([kind, ofKind]) => {
    const sides = Map.groupBy(ofKind, ({ side }) => side)
    const recorded = (sides.get('recorded') ?? []).map(({ object }) => object)
    const ours = (sides.get('ours') ?? []).map(({ object }) => object)
    return pairUp(recorded, ours).flatMap((pair) => describePair(kind, pair))
  })
}

interface Pair {
  readonly recorded?: JsonObject
  readonly ours?: JsonObject
}

function pairUp(recorded: readonly JsonObject[], ours: readonly JsonObject[]): readonly Pair[] {
  const left = [...ours]
  function take(isIt: (object: JsonObject) => boolean): JsonObject | undefined {
    const index = left.findIndex(isIt)
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  // Names first, so that nothing similar takes the place of what has the name.
  const named = recorded.map((object) => {
    const name = nameOf(object)
    return { object, same: name === '' ? undefined : take((other) => nameOf(other) === name) }
  })
  const pairs = named.map(({ object, same }): Pair => {
    const best = same === undefined ? mostSimilar(object, left) : undefined
    const other = same ?? (best === undefined ? undefined : take((one) => one === best))
    return other === undefined ? { recorded: object } : { recorded: object, ours: other }
  })
  return [...pairs, ...left.map((object): Pair => ({ ours: object }))]
}

/** Of objects that have other names, none is the same one. */
function mostSimilar(object: JsonObject, others: readonly JsonObject[]): JsonObject | undefined {
  if (nameOf(object) !== '') return undefined
  const fields = new Set(fieldsOf(object))
  let best: JsonObject | undefined
  let bestShare = similarEnough
  for (const other of others.filter((one) => nameOf(one) === '')) {
    const theirs = new Set(fieldsOf(other))
    const share = fields.intersection(theirs).size / Math.max(fields.size, theirs.size)
    if (share < bestShare) continue
    best = other
    bestShare = share
  }
  return best
}

function describePair(kind: string, { recorded, ours }: Pair): readonly string[] {
  const object = recorded ?? ours ?? {}
  const title = [kind, nameOf(object)].filter(Boolean).join(' ')
  if (recorded === undefined)
    return [`${title}: only ours`, ...fieldsOf(object).map((field) => `  + ${field}`)]
  if (ours === undefined)
    return [`${title}: only recorded`, ...fieldsOf(object).map((field) => `  - ${field}`)]
  const [before, after] = [fieldsOf(recorded), fieldsOf(ours)]
  const lines = [
    ...surplus(before, after).map((field) => ({ field, line: `  - ${field}` })),
    ...surplus(after, before).map((field) => ({ field, line: `  + ${field}` })),
  ]
  // What became of a field stands below what it was.
  const pathOf = (field: string): string => field.slice(0, field.indexOf(': '))
  const sorted = lines
    .map((entry, index) => ({ ...entry, index }))
    .sort((a, b) => comparePaths(pathOf(a.field), pathOf(b.field)) || a.index - b.index)
  return [
    `${title}:${nameOf(object) === '' ? ` ${commonField(before, after)}` : ''}`.trimEnd(),
    ...sorted.map(({ line }) => line),
  ]
}

function comparePaths(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Tells an object without a name from its like. */
function commonField(before: readonly string[], after: readonly string[]): string {
  const common = before.filter((field) => after.includes(field))
  return common.find((field) => field.startsWith('match: ')) ?? common[0] ?? ''
}

function surplus(from: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others]
  return from.filter((field) => {
    const index = left.indexOf(field)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

/** Every scalar in an object, as `path.to[].it: value`; the order in lists of scalars says nothing. */
function fieldsOf(value: Json, path = ''): readonly string[] {
  if (isList(value)) {
    return value.flatMap((item, index) =>
      fieldsOf(item, isObject(item) || isList(item) ? `${path}[${index}]` : `${path}[]`),
    )
  }
  if (!isObject(value)) return [`${path}: ${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([key, item]) => fieldsOf(item, path === '' ? key : `${path}.${key}`))
}

/** `namespace/name` of a Kubernetes object, the name of a row; empty if it has none. */
function nameOf(object: JsonObject): string {
  const metadata = isObject(object['metadata']) ? object['metadata'] : object
  return [metadata['namespace'], metadata['name']].filter((part) => typeof part === 'string').join('/')
}
