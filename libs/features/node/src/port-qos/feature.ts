import { isQosKey, nicKey, primaryProvider, readNicQos } from '@kube-ovn/annotations'
import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { nodePortName } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { askingNic, askingPods } from '../asking-pods.ts'
import { interfaceTable } from '../local-interfaces.ts'
import { nodeNicName } from '../node-nic/desired.ts'
import { portQos, type PortQos } from '../sinks/port-qos.ts'
import { agentTable, nodeTable } from '../tables.ts'
import { desiredQos } from './desired.ts'

const askingPodTable = askingPods('qos-pods', isQosKey)

const podPortTable = rowTable({
  name: 'qos-ports',
  of: interfaceTable,
  reads: { pods: askingPodTable },
  row(row, { pods }): Answer<PortQos> | undefined {
    const nic = askingNic(row, (holder) => pods.find('holder', holder))
    if (nic === undefined) return undefined
    const { asking, provider, ifaceId, holder } = nic
    const qos = readNicQos(asking.annotations, provider)
    const keyOf = (key: string): string => nicKey(provider, key)
    const { problem, ...want } = desiredQos(qos, { pod: asking.pod, keyOf })
    const ids = { 'iface-id': ifaceId, pod: holder }
    return { want: { name: row.name, ids, ...want }, ...(problem && { problem }) }
  },
})

/** Of `ovn0`, by annotations of the Node. */
const nodePortTable = rowTable({
  name: 'qos-node',
  of: agentTable,
  reads: { nodes: nodeTable },
  row({ nodeName }, { nodes }): Answer<PortQos> | undefined {
    const node = nodes.get(nodeName)
    if (node === undefined) return { wait: 'the API server has not sent the Node yet' }
    if (!Object.keys(node.metadata.annotations ?? {}).some(isNodeKey)) return undefined
    const { ingress, egress, problems } = readNicQos(node.metadata.annotations)
    const rates = problems.filter(({ details }) => isNodeKey(details.field))
    const { problem, ...want } = desiredQos(
      { ingress, egress, disturbance: {}, problems: rates },
      { pod: '', keyOf: (key) => nicKey(primaryProvider, key) },
    )
    const name = nodeNicName
    return {
      want: { name, ids: { 'iface-id': nodePortName(nodeName) }, ...want },
      ...(problem && { problem }),
    }
  },
})

/** Makes NICs as fast, and as bad on purpose, as annotations of their Pods say, and `ovn0` as those of the Node do. */
export const portQosFeature: NodeFeature = {
  name: 'port-qos',
  contributions: [contribution(portQos, podPortTable), contribution(portQos, nodePortTable)],
}

/** A Node has rates alone. */
function isNodeKey(key: string): boolean {
  return key.startsWith(nicKey(primaryProvider, '')) && /\/(in|e)gress_(rate|burst)$/.test(key)
}
