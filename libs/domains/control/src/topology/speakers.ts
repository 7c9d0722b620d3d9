import { speakerApp } from '@kube-ovn/annotations'
import { isAlive } from '@kube-ovn/kube-api/core'
import { rowTable } from '@kube-ovn/tables'
import { nodes, pods } from '../sources.ts'

/** The node of each Pod that is a speaker. */
export const speakers = rowTable({
  name: 'speakers',
  of: pods,
  row(pod): string | undefined {
    return pod.metadata.labels?.['app'] === speakerApp && isAlive(pod) ? pod.spec.nodeName : undefined
  },
  indexes: { node: (node: string) => [node] },
})

/** Nodes of which nobody knows how they are, and since when, in milliseconds since the epoch. */
export const silentNodes = rowTable({
  name: 'silent-nodes',
  of: nodes,
  row({ status }): number | undefined {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.status !== 'Unknown') return undefined
    return Date.parse(ready.lastTransitionTime ?? '') || 0
  },
})
