import { isQosKey, nicKey, podAnnotations, primaryProvider, readNicQos } from '@kube-ovn/annotations'
import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { isAlive, type Pod } from '@kube-ovn/kube-api/core'
import { nodePortName, podPortName, vendor } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { podIdentities } from '../kube-objects.ts'
import { interfaceTable } from '../local-interfaces.ts'
import { nodeNicName } from '../node-nic/desired.ts'
import { attachmentId } from '../pod-nic/desired.ts'
import { portQos, type PortQos } from '../sinks/port-qos.ts'
import { agentTable, nodeTable, podTable } from '../tables.ts'
import { desiredQos } from './desired.ts'

const { virtualMachine } = podAnnotations()

/** A pod of this node that asks something of a NIC. Most do not. */
interface AskingPod {
  readonly pod: string
  readonly uids: readonly string[]
  /** What its ports may be named after. */
  readonly holders: readonly string[]
  /** Those about the quality of service alone. */
  readonly annotations: Readonly<Record<string, string>>
}

const askingPodTable = rowTable({
  name: 'qos-pods',
  of: podTable,
  row(pod): AskingPod | undefined {
    const annotations = qosAnnotationsOf(pod)
    if (Object.keys(annotations).length === 0 || !isAlive(pod)) return undefined
    const { namespace = '', name } = pod.metadata
    const machine = virtualMachine.read(pod.metadata.annotations)
    const names = machine === undefined ? [name] : [name, machine]
    return {
      pod: `${namespace}/${name}`,
      uids: podIdentities(pod),
      holders: names.map((holder) => `${namespace}/${holder}`),
      annotations,
    }
  },
  indexes: { holder: ({ holders }) => holders },
})

const podPortTable = rowTable({
  name: 'qos-ports',
  of: interfaceTable,
  reads: { pods: askingPodTable },
  row({ name, external_ids: ids }, { pods }): Answer<PortQos> | undefined {
    const { [attachmentId.podNamespace]: namespace, [attachmentId.podName]: holder } = ids
    if (namespace === undefined || holder === undefined || ids[attachmentId.vendor] !== vendor)
      return undefined
    const ifaceId = ids[attachmentId.ifaceId] ?? ''
    const provider = providerOf(ifaceId, namespace, holder)
    const uid = ids[attachmentId.podUid] ?? ''
    const asking = pods
      .find('holder', `${namespace}/${holder}`)
      .find(({ uids }) => uid === '' || uids.includes(uid))
    if (provider === undefined || asking === undefined) return undefined
    const qos = readNicQos(asking.annotations, provider)
    const keyOf = (key: string): string => nicKey(provider, key)
    const { problem, ...want } = desiredQos(qos, { pod: asking.pod, keyOf })
    const ids_ = { 'iface-id': ifaceId, pod: `${namespace}/${holder}` }
    return { want: { name, ids: ids_, ...want }, ...(problem && { problem }) }
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

function qosAnnotationsOf({ metadata: { annotations = {} } }: Pod): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => isQosKey(key)))
}

/** A Node has rates alone. */
function isNodeKey(key: string): boolean {
  return key.startsWith(nicKey(primaryProvider, '')) && /\/(in|e)gress_(rate|burst)$/.test(key)
}

/** The provider of the network that a port is in: it is a part of its name. */
function providerOf(ifaceId: string, namespace: string, holder: string): string | undefined {
  const first = podPortName(namespace, holder)
  if (ifaceId === first) return primaryProvider
  return ifaceId.startsWith(`${first}.`) ? ifaceId.slice(first.length + 1) : undefined
}
