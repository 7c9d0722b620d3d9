import { nodeTaint } from '@kube-ovn/annotations'
import { isConditionTrue } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'

/** Nodes on which somebody ends the pods that are being deleted. On all others nobody does: they are lost. */
export const livingNodes = rowTable({
  name: 'living-nodes',
  of: nodes,
  row: ({ spec, status }) => {
    if (!isConditionTrue(status?.conditions, 'Ready')) return undefined
    return spec?.taints?.some(({ key }) => key === nodeTaint.outOfService) === true ? undefined : true
  },
})
