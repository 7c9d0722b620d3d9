import { isEqualJson, type JsonValue, type KubeObject } from '@kube-ovn/kube'
import type { KubePatch } from './feature.ts'
import { targetOf } from './patch-lanes.ts'

interface Answered {
  readonly resourceVersion: string
  /** What still differed from the object as it is kept, for each patch that was sent. */
  readonly differences: JsonValue[]
}

/**
 * Remembers what a server made no more of: it answered, and the object as it is kept still differs, by defaults that the server fills in, or by
 * fields that are trimmed away. As long as the object is of the version which it answered, the same would come of sending it again.
 */
export class AnsweredWrites {
  readonly #answered = new Map<string, Answered>()

  /** Answers whether that is news. */
  note(patch: KubePatch, resourceVersion: string, difference: JsonValue): boolean {
    const target = targetOf(patch)
    const known = this.#answered.get(target)
    if (known?.resourceVersion === resourceVersion) known.differences.push(difference)
    else this.#answered.set(target, { resourceVersion, differences: [difference] })
    return known?.differences.some((one) => isEqualJson(one, difference)) !== true
  }

  has(patch: KubePatch, { metadata: { resourceVersion } }: KubeObject, difference: JsonValue): boolean {
    const known = this.#answered.get(targetOf(patch))
    if (known === undefined) return false
    if (known.resourceVersion === resourceVersion)
      return known.differences.some((one) => isEqualJson(one, difference))
    return false
  }

  /** Nothing of the patch differs any more. */
  forget(patch: KubePatch): void {
    this.#answered.delete(targetOf(patch))
  }
}

/** The first field of a merge patch, and what it should be; `undefined` when there are only lists, in which a server may fill in what it likes. */
export function firstField(
  difference: JsonValue,
  path: readonly string[] = [],
): { readonly field: string; readonly value: string } | undefined {
  if (Array.isArray(difference)) return undefined
  if (typeof difference !== 'object' || difference === null)
    return { field: path.join('.'), value: JSON.stringify(difference) }
  for (const [key, value] of Object.entries(difference)) {
    const found = firstField(value, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}
