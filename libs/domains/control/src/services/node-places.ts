import { nodeAnnotations, nodeLabel } from '@kube-ovn/annotations'
import { rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'

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
  of: nodes,
  row: ({ metadata: { name, annotations, labels } }): NodePlace | undefined => {
    const chassis = nodeAnnotations.chassis.read(annotations) ?? ''
    return chassis === '' ? undefined : { node: name, chassis, zone: labels?.[nodeLabel.zone] }
  },
})
