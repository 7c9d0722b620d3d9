import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { rowTable } from '@kube-ovn/tables'
import { localnetPatchName } from '../local-ovs.ts'
import { connectionTable, vlanTagTable, waitForVlan } from '../provider-networks/feature.ts'
import { bridgeFlows, type BridgeLeads } from '../sinks/bridge-flows.ts'
import { agentTable, subnetFactsTable, theNode } from '../tables.ts'

const leadsTable = rowTable({
  name: 'external-addresses',
  of: subnetFactsTable,
  reads: { agent: agentTable, tags: vlanTagTable, connections: connectionTable },
  row({ name, vlan, externalAddresses, mac }, views): Answer<BridgeLeads> | undefined {
    const nodeName = views.agent.get(theNode)?.nodeName ?? ''
    const leads = externalAddresses.filter(({ nodes }) => nodes.includes(nodeName))
    const on = views.tags.get(vlan)
    if (leads.length === 0 || on === undefined || mac === undefined) return undefined
    if (!on.isInEffect) return waitForVlan
    const connection = views.connections.get(on.network)
    if (connection === undefined || 'wait' in connection) return connection
    // Whose node is not connected is told of that.
    if (!('want' in connection)) return undefined
    const { bridge, nic: from } = connection.want
    return { want: { bridge, from, to: localnetPatchName(name), mac, leads } }
  },
})

/**
 * Leads what comes in from a physical network for an address of an external load balancer into OVN, past the node itself, which has said
 * there that the address is its own. Where the node has no backends it goes by the node, and whoever serves Services there.
 */
export const externalAddresses: NodeFeature = {
  name: 'external-addresses',
  contributions: [contribution(bridgeFlows, leadsTable)],
}
