import type { ControlFeature } from '@kube-ovn/domains-control'
import type { JsonValue } from '@kube-ovn/kube'
import { resourceKey, type KubePatch } from '@kube-ovn/reconcile'

type Path = readonly string[]

/** Fields whose entries users name: one entry stands for all. */
const maps: ReadonlySet<string> = new Set(['metadata.annotations', 'metadata.labels', 'spec.selector'])

/**
 * Fields that patches write and that no example has which the feature gives of its writes. A field of an example that the watch trims away ends the
 * start; without one, nothing would tell before the first write.
 */
export function undeclaredFields(
  { rights = [] }: Pick<ControlFeature, 'rights'>,
  patches: readonly KubePatch[],
): readonly string[] {
  return patches.flatMap(({ resource, merge = {} }) => {
    const key = resourceKey(resource)
    const declared = rights.filter((right) => resourceKey(right.resource) === key)
    const examples = declared.flatMap(({ writes = [] }) => (writes === 'applied' ? [] : writes))
    // Of what is not trimmed there need be none.
    if (examples.length === 0) return []
    return fieldsOf(merge)
      .filter((path) => !examples.some((example) => has(example, path)))
      .map((path) => `${path.join('.')} of ${key}`)
  })
}

function fieldsOf(value: JsonValue, path: Path = []): readonly Path[] {
  const isFragment = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isFragment || maps.has(path.join('.'))) return value === undefined ? [] : [path]
  return Object.entries(value).flatMap(([key, one]: [string, JsonValue]) => fieldsOf(one, [...path, key]))
}

function has(example: unknown, path: Path): boolean {
  const [key, ...rest] = path
  if (key === undefined) return true
  if (typeof example !== 'object' || example === null || !Object.hasOwn(example, key)) return false
  return has(Object.entries(example).find(([one]) => one === key)?.[1], rest)
}
