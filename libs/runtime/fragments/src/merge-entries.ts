import { FragmentConflictError } from './errors.ts'
import type { Claim, Owner } from './sink.ts'

export interface MergedEntries<V> {
  readonly entries: ReadonlyMap<string, V>
  /** Who wants an entry otherwise than who stands before them. */
  readonly refused: ReadonlyMap<Owner, FragmentConflictError>
}

/**
 * Puts the entries of a map together that several features want; `null` is that there be none. An entry that two want belongs to the first; all others are taken.
 *
 * @param field what the map is, for who is refused: `external_ids`
 */
export function mergeEntries<F, V extends string | null>(
  claims: readonly Claim<F>[],
  field: string,
  entriesOf: (fragment: F) => Readonly<Record<string, V>>,
): MergedEntries<V> {
  const entries = new Map<string, V>()
  const holders = new Map<string, Owner>()
  const refused = new Map<Owner, FragmentConflictError>()
  for (const { owner, fragment } of claims) {
    for (const [key, value] of Object.entries(entriesOf(fragment))) {
      const holder = holders.get(key) ?? owner
      const known = entries.has(key) ? entries.get(key) : value
      if (known !== value) {
        const cure = `want ${known ?? 'none'}, as ${holder} does`
        const details = { field: `${field}:${key}`, value: value ?? 'none', holder, cure }
        refused.set(owner, new FragmentConflictError(details))
        continue
      }
      entries.set(key, value)
      holders.set(key, holder)
    }
  }
  return { entries, refused }
}
