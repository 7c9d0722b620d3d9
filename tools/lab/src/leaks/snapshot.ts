/**
 * What exists at a moment, by where it was looked for (`node-1 links`, `Northbound`): each thing as a text that is the same when it is
 * looked at again. The same text may occur several times.
 */
export type Snapshot = ReadonlyMap<string, readonly string[]>

/** What differs between two snapshots in one place. */
export interface Difference {
  readonly where: string
  readonly appeared: readonly string[]
  readonly disappeared: readonly string[]
}

/** Compares two snapshots; nothing is left over and nothing is missing if the result is empty. */
export function compareSnapshots(before: Snapshot, after: Snapshot): readonly Difference[] {
  const places = [...new Set([...before.keys(), ...after.keys()])]
  return places.flatMap((where) => {
    const [old, now] = [before.get(where) ?? [], after.get(where) ?? []]
    const [appeared, disappeared] = [without(now, old), without(old, now)]
    return appeared.length + disappeared.length === 0 ? [] : [{ where, appeared, disappeared }]
  })
}

/** The members of a list that are left when each member of another has taken away one of its kind. */
function without(list: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const other of others) left.set(other, (left.get(other) ?? 0) + 1)
  return list.filter((member) => {
    const count = left.get(member) ?? 0
    if (count > 0) left.set(member, count - 1)
    return count === 0
  })
}

/** Characters of one thing that are shown; a row of a database may be long. */
const shownLength = 240
/** Kinds of things that are shown of one place. */
const shownThings = 20

/** Renders differences for a person: `+` is left over, `-` is missing, and how often if more than once. */
export function renderDifferences(differences: readonly Difference[]): string {
  return differences
    .flatMap(({ where, appeared, disappeared }) => [
      where,
      ...lines('+', appeared),
      ...lines('-', disappeared),
    ])
    .map((line) => `${line}\n`)
    .join('')
}

function lines(sign: string, things: readonly string[]): string[] {
  const counted = [...Map.groupBy(things, (thing) => thing)]
  const shown = counted.slice(0, shownThings).map(([thing, { length }]) => {
    const text = thing.length > shownLength ? `${thing.slice(0, shownLength)}…` : thing
    return `  ${sign} ${text}${length > 1 ? `  × ${length}` : ''}`
  })
  const more = counted.length - shown.length
  return more > 0 ? [...shown, `  ${sign} … and ${more} more`] : shown
}
