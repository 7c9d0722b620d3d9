import type { KubeObject } from '@kube-ovn/kube'

/** Of objects whose groups would have one name, the one that was there first has it. */
export function oldest(members: ReadonlyMap<string, KubeObject>): string | undefined {
  const rank = ([key, { metadata }]: readonly [string, KubeObject]): string =>
    `${metadata.creationTimestamp ?? ''} ${key}`
  return [...members].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0]?.[0]
}
