import { isEqualJson, type JsonValue, type KubeObject } from '@kube-ovn/kube'
import type { KubePatch } from './feature.ts'

type Fragment = { readonly [key: string]: JsonValue }
type Path = readonly string[]

/**
 * A patch, and the object that its key saw when it decided.
 *
 * A merge patch replaces a list as a whole (RFC 7386), and others write lists, too: finalizers, conditions. So a list is
 * written only to the object that it was computed from. {@link hasOtherLists} looks at what is known here,
 * {@link ofThisVersion} lets the API server look at what it has.
 */
export type BasedPatch = KubePatch & { readonly basis: KubeObject | undefined }

/** Whether the object is not the one that its key saw, but one that was made since under the same name. */
export function isAnotherObject({ basis }: BasedPatch, current: KubeObject | undefined): boolean {
  return basis !== undefined && current !== undefined && basis.metadata.uid !== current.metadata.uid
}

/** Whether a list that the patch would change is another one than its key saw. */
export function hasOtherLists(
  patch: BasedPatch,
  difference: JsonValue | undefined,
  current: KubeObject | undefined,
): boolean {
  return listsIn(difference, current).some(
    (path) => !isEqualJson(valueAt(patch.basis, path), valueAt(current, path)),
  )
}

/**
 * Makes a merge patch fail with a conflict when the object changed meanwhile, if it changes a list.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-update
 */
export function ofThisVersion(difference: Fragment, current: KubeObject): Fragment {
  const { resourceVersion } = current.metadata
  if (resourceVersion === undefined || listsIn(difference, current).length === 0) return difference
  const { metadata } = difference
  return { ...difference, metadata: { ...(isFragment(metadata) ? metadata : {}), resourceVersion } }
}

/** Where a merge patch writes a list, or removes one. */
function listsIn(difference: JsonValue | undefined, present: unknown, at: Path = []): readonly Path[] {
  if (Array.isArray(difference) || (difference === null && Array.isArray(present))) return [at]
  // What is removed with all that is in it may have lists in it.
  if (difference === null && isFields(present)) return listsIn(present as JsonValue, present, at)
  if (!isFragment(difference)) return []
  const fields = isFields(present) ? present : {}
  return Object.entries(difference).flatMap(([key, value]) => listsIn(value, fields[key], [...at, key]))
}

function valueAt(object: unknown, path: Path): unknown {
  return path.reduce((value, key) => (isFields(value) ? value[key] : undefined), object)
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isFragment(value: JsonValue | undefined): value is Fragment {
  return isFields(value)
}
