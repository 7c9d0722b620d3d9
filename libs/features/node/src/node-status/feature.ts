import { AnnotationInvalidError, nodeAnnotations, readNodeNetwork } from '@kube-ovn/annotations'
import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { formatIp } from '@kube-ovn/ip'
import type { Node } from '@kube-ovn/kube-api/core'
import { rowTable } from '@kube-ovn/tables'
import { interfaceTable, openVswitchTable } from '../local-interfaces.ts'
import { isInstalled } from '../local-ovs.ts'
import { nodeNicName } from '../node-nic/desired.ts'
import { nodeObject, type NodeStatement } from '../sinks/node-object.ts'
import { agentTable, nodeTable, theNode } from '../tables.ts'
import { desiredCondition } from './desired.ts'

/** How long ovn0 may be without flows before the node is reported: a restart of OVS takes less. */
const graceMs = 15_000

const waitForNode = { wait: 'the API server has not sent the Node yet' } as const

const chassisTable = rowTable({
  name: 'node-status-chassis',
  of: agentTable,
  reads: { nodes: nodeTable, openVswitch: openVswitchTable },
  row({ nodeName }, { nodes, openVswitch }): Answer<NodeStatement> {
    if (nodes.get(nodeName) === undefined) return waitForNode
    const chassis = openVswitch.get(theNode)?.external_ids['system-id']
    if (chassis === undefined) return { wait: 'Open vSwitch has not told its system-id yet' }
    return { want: { annotations: { [nodeAnnotations.chassis.key]: chassis } } }
  },
})

const conditionTable = rowTable({
  name: 'node-status-condition',
  of: agentTable,
  reads: { nodes: nodeTable, interfaces: interfaceTable },
  row({ nodeName }, { nodes, interfaces }): Answer<NodeStatement> {
    const node = nodes.get(nodeName)
    if (node === undefined) return waitForNode
    try {
      const gateways = gatewaysOf(node)
      if (gateways === undefined) return { wait: 'kube-ovn-controller has not given the Node an address yet' }
      const isUp = isInstalled(interfaces.get(nodeNicName))
      const want = { condition: desiredCondition({ isInstalled: isUp, gateways }) }
      return isUp ? { want } : { want, afterMs: graceMs }
    } catch (error) {
      if (error instanceof AnnotationInvalidError) return { problem: error }
      throw error
    }
  },
})

/** Tells what the cluster has to know of this node: its chassis and whether its network works. */
export const nodeStatus: NodeFeature = {
  name: 'node-status',
  contributions: [contribution(nodeObject, chassisTable), contribution(nodeObject, conditionTable)],
}

function gatewaysOf(node: Node): readonly string[] | undefined {
  const gateways = readNodeNetwork(node.metadata.annotations)?.gateways
  return gateways && [gateways.v4, gateways.v6].flatMap((ip) => (ip === undefined ? [] : [formatIp(ip)]))
}
