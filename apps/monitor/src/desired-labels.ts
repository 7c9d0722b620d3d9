import type { Pod } from '@kube-ovn/kube'
import { roles, type Role } from './roles.ts'

/** Labels of the pod that answers for the cluster, by which tools find it, as upstream's leader checker writes them. */
const labels: Readonly<Record<Role, string>> = {
  nb: 'ovn-nb-leader',
  sb: 'ovn-sb-leader',
  northd: 'ovn-northd-leader',
}

export interface LabelPatch {
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * The labels that differ from what is known of the roles of this node's member.
 *
 * Each monitor writes those of the pods of its node. A node that has lost its power writes nothing any more, so who has a role now takes
 * its label from pods that are not ready; two that are would be set right by their own monitors.
 */
export function desiredLabels(
  pods: Iterable<Pod>,
  nodeName: string,
  current: ReadonlyMap<Role, boolean>,
): readonly LabelPatch[] {
  return [...pods].flatMap(({ metadata, spec, status }): readonly LabelPatch[] => {
    const isReady = (status?.conditions ?? []).some((one) => one.type === 'Ready' && one.status === 'True')
    const isHere = spec.nodeName === nodeName
    const wanted = roles.flatMap((role): readonly (readonly [string, string])[] => {
      const has = current.get(role)
      const present = metadata.labels?.[labels[role]]
      const want = isHere ? has : has === true && !isReady && present === 'true' ? false : undefined
      return want === undefined || present === String(want) ? [] : [[labels[role], String(want)]]
    })
    if (wanted.length === 0) return []
    return [{ name: metadata.name, namespace: metadata.namespace ?? '', labels: Object.fromEntries(wanted) }]
  })
}
