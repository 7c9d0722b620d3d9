import { isMirrorKey, podAnnotations } from '@kube-ovn/annotations'
import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { rowTable } from '@kube-ovn/tables'
import { askingNic, askingPods } from '../asking-pods.ts'
import { interfaceTable } from '../local-interfaces.ts'
import { integrationBridge } from '../local-ovs.ts'
import { nodeLinks, type NodeLink } from '../node-nic/link-sink.ts'
import { mirrors, type Mirror } from '../sinks/mirrors.ts'
import { ovsRows, type OvsFragment } from '../sinks/ovs-rows.ts'
import { agentTable } from '../tables.ts'

/** Nobody answers there: it is the same on every node. */
const mac = '0a:00:00:00:00:fe'

/** As much as a packet of any pod may have. */
const mtu = 9000

const askingPodTable = askingPods('mirrored-pods', isMirrorKey)

/** Ports of the NICs that are to be mirrored. */
const mirroredPortTable = rowTable({
  name: 'mirrored-ports',
  of: interfaceTable,
  reads: { pods: askingPodTable },
  row(row, { pods }): string | undefined {
    const nic = askingNic(row, (holder) => pods.find('holder', holder))
    if (nic === undefined) return undefined
    return podAnnotations(nic.provider).mirror.read(nic.asking.annotations) === true ? row.name : undefined
  },
})

const mirrorTable = rowTable({
  name: 'mirror',
  of: agentTable,
  reads: { ports: mirroredPortTable },
  row({ mirror: { isOfAll, link } }, { ports }): Answer<Mirror> | undefined {
    const names = isOfAll ? [] : [...ports.scan()].sort()
    if (!isOfAll && names.length === 0) return undefined
    return { want: { name: 'm0', bridge: integrationBridge, output: link, isOfAll, ports: names } }
  },
})

const outputTable = rowTable({
  name: 'mirror-port',
  of: mirrorTable,
  row(mirror): Answer<OvsFragment> {
    if (!('want' in mirror)) return mirror
    const { bridge, output: name } = mirror.want
    return {
      want: { port: { bridge, row: { name, type: 'internal', mac, mtu_request: mtu, external_ids: {} } } },
    }
  },
})

const linkTable = rowTable({
  name: 'mirror-link',
  of: mirrorTable,
  row(mirror): Answer<NodeLink> {
    if (!('want' in mirror)) return mirror
    const { output: name } = mirror.want
    return { want: { name, mac, txQueueLength: 1000, addresses: [], disablesTxChecksumOffload: false } }
  },
})

/**
 * Copies what NICs send and receive to a NIC of the node: those whose Pods say so by annotation, or all. The NIC is there while something
 * is mirrored.
 */
export const mirroring: NodeFeature = {
  name: 'mirroring',
  contributions: [
    contribution(ovsRows, outputTable),
    contribution(mirrors, mirrorTable),
    contribution(nodeLinks, linkTable),
  ],
}
