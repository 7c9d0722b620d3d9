import type { ConfigOf, Settings } from '@kube-ovn/process'
import { UndeclaredFlagError } from './errors.ts'
import type { ControlSettings } from './settings.ts'

/**
 * What flags decide, for the feature that declares them.
 *
 * @throws UndeclaredFlagError when one of them is not among those that the feature declares
 */
export function flagsOf<S extends Settings>(
  declared: S,
  { flags }: Pick<ControlSettings, 'flags'>,
): ConfigOf<S> {
  const missing = Object.keys(declared).find((key) => !Object.hasOwn(flags, key))
  if (missing !== undefined) throw new UndeclaredFlagError(missing)
  // Each was read by the very setting that is declared.
  return flags as ConfigOf<S>
}
