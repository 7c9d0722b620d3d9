import { nodeTaint } from '@kube-ovn/annotations'
import { isConditionTrue } from '@kube-ovn/kube-api'
import type { Node } from '@kube-ovn/kube-api/core'

/** Whether nobody on the node will end a pod that is being deleted. */
export function isNodeLost(node: Node | undefined): boolean {
  if (node === undefined || !isConditionTrue(node.status?.conditions, 'Ready')) return true
  return node.spec?.taints?.some(({ key }) => key === nodeTaint.outOfService) === true
}
