import { nodeLabel } from '@kube-ovn/annotations'
import { rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'
import { chassisHosts } from '../topology/node-chassis.ts'

/** Where clients are, for what differs from node to node. */
export interface NodePlace {
  readonly node: string
  /** By which OVN knows it. */
  readonly chassis: string
  readonly zone: string | undefined
}

/** The nodes that have told what OVN calls them. */
export const nodePlaces = rowTable({
  name: 'node-places',
  of: chassisHosts,
  reads: { nodes },
  row: ({ node, chassis }, views): NodePlace => {
    const zone = views.nodes.get(node)?.metadata.labels?.[nodeLabel.zone]
    return { node, chassis, zone }
  },
})
