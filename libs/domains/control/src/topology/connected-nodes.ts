import { ofProviderNetworks, type Annotations } from '@kube-ovn/annotations'
import { rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'

/** What decides, and says, to which physical networks a node is connected: of a Node what no heartbeat changes. */
export interface ConnectedNode {
  readonly name: string
  readonly labels: Annotations
  /** Those about provider networks. */
  readonly annotations: Annotations
}

/** The nodes, for those who go by their labels. */
export const connectedNodes = rowTable({
  name: 'connected-nodes',
  of: nodes,
  row: ({ metadata: { name, labels = {}, annotations } }): ConnectedNode => ({
    name,
    labels,
    annotations: ofProviderNetworks(annotations),
  }),
})
