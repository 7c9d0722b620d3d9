import { nodeAnnotations } from '@kube-ovn/annotations'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import { hasOtherAddresses } from './node-addresses.ts'

const keys = Object.values(nodeAnnotations).map(({ key }) => key)

/** Whether a change of a node concerns its networking, and is not one of its many heartbeats. */
export function hasOtherNetwork({ old, new: current }: ObjectChange<Node>): boolean {
  if (old === undefined || current === undefined) return true
  return (
    hasOtherAddresses(old, current) ||
    keys.some((key) => old.metadata.annotations?.[key] !== current.metadata.annotations?.[key])
  )
}
