import { TargetNotWrittenError } from './errors.ts'

/**
 * Makes changes one after the other. One that fails does not keep the others.
 *
 * @throws TargetNotWrittenError that names those which were not made
 */
export function writeEach(changes: Iterable<readonly [what: string, write: () => void]>): void {
  const failures = new Map<string, unknown>()
  for (const [what, write] of changes) {
    try {
      write()
    } catch (error) {
      failures.set(what, error)
    }
  }
  if (failures.size === 0) return
  const [cause] = failures.values()
  throw new TargetNotWrittenError({ changes: [...failures.keys()] }, { cause })
}
