import { nodeAnnotations } from '@kube-ovn/annotations'
import { rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'

/** A node, and what OVN calls it. */
export interface NodeChassis {
  readonly node: string
  /** `undefined` until its agent has told it. */
  readonly chassis: string | undefined
}

/** All nodes. */
export const nodeChassis = rowTable({
  name: 'node-chassis',
  of: nodes,
  row: ({ metadata: { name, annotations } }): NodeChassis => {
    const chassis = nodeAnnotations.chassis.read(annotations) ?? ''
    return { node: name, chassis: chassis === '' ? undefined : chassis }
  },
})
