import type { RowChange } from 'ovsdb-client'
import { within } from './within.ts'

/** Who hears of changes of a database. */
interface Changing {
  onChange(listener: (changes: readonly RowChange[]) => void): Disposable
}

/** Resolves when something is so in a database; throws when that takes longer than the limit. */
export async function until(
  seen: Changing,
  limitMs: number,
  what: string,
  isThere: () => boolean,
): Promise<void> {
  const there = Promise.withResolvers<void>()
  using _subscription = seen.onChange(() => {
    if (isThere()) there.resolve()
  })
  if (isThere()) there.resolve()
  await within(limitMs, () => what, there.promise)
}
