import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { rowTable } from '@kube-ovn/tables'
import { localnetPatchName } from '../local-ovs.ts'
import { connectionTable, vlanTagTable, waitForVlan } from '../provider-networks/feature.ts'
import { staticMacs, type StaticMac } from '../sinks/static-macs.ts'
import { subnetFactsTable } from '../tables.ts'

const macsTable = rowTable({
  name: 'router-macs',
  of: subnetFactsTable,
  reads: { tags: vlanTagTable, connections: connectionTable },
  row({ name, vlan, mac }, views): Answer<StaticMac> | undefined {
    const on = views.tags.get(vlan)
    if (on === undefined || mac === undefined) return undefined
    if (!on.isInEffect) return waitForVlan
    const connection = views.connections.get(on.network)
    if (connection === undefined || 'wait' in connection) return connection
    // Whose node is not connected is told of that.
    if (!('want' in connection)) return undefined
    return { want: { bridge: connection.want.bridge, port: localnetPatchName(name), vlan: on.tag, mac } }
  },
})

/**
 * Has the bridge of a physical network send frames for the router of a VPC into OVN, whatever it sees. The router is on each node, with the
 * same MAC address: what another node sends for it would tell the bridge that the router is outside, and keep frames for it from coming in.
 */
export const routerMacs: NodeFeature = {
  name: 'router-macs',
  contributions: [contribution(staticMacs, macsTable)],
}
