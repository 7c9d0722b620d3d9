import { FragmentConflictError } from './errors.ts'
import type { Claim, Owner } from './sink.ts'

export interface MergedEntries {
  readonly entries: ReadonlyMap<string, string>
  /** Who wants an entry otherwise than who stands before them. */
  readonly refused: ReadonlyMap<Owner, FragmentConflictError>
}

/**
 * Puts the entries of a map together that several features want. An entry that two want belongs to the first; all others are taken.
 *
 * @param field what the map is, for who is refused: `external_ids`
 */
export function mergeEntries<F>(
  claims: readonly Claim<F>[],
  field: string,
  entriesOf: (fragment: F) => Readonly<Record<string, string>>,
): MergedEntries {
  const entries = new Map<string, string>()
  const holders = new Map<string, Owner>()
  const refused = new Map<Owner, FragmentConflictError>()
  for (const { owner, fragment } of claims) {
    for (const [key, value] of Object.entries(entriesOf(fragment))) {
      const holder = holders.get(key) ?? owner
      const held = entries.get(key) ?? value
      if (held !== value) {
        const cure = `want ${held}, as ${holder} does`
        refused.set(owner, new FragmentConflictError({ field: `${field}:${key}`, value, holder, cure }))
        continue
      }
      entries.set(key, value)
      holders.set(key, holder)
    }
  }
  return { entries, refused }
}
