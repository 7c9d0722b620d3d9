import { podAnnotations } from '@kube-ovn/annotations'
import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { vendor } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { podIdentities } from '../kube-objects.ts'
import { interfaceTable } from '../local-interfaces.ts'
import { attachmentId } from '../pod-nic/desired.ts'
import { portRemovals, type PortRemoval } from '../sinks/port-removals.ts'
import { podTable } from '../tables.ts'
import { staleReason, type LocalPod, type PodPort } from './desired.ts'

const { virtualMachine } = podAnnotations()

/** How long a port may look stale: the runtime's own DEL comes within this time, and cleans up better. */
const graceMs = 30_000

/** Ports of pods on the integration bridge, by name. */
const podPortTable = rowTable({
  name: 'pod-ports',
  of: interfaceTable,
  row({ _uuid: uuid, name, external_ids: ids, error }): (PodPort & { readonly uuid: string }) | undefined {
    const podName = ids[attachmentId.podName]
    const podNamespace = ids[attachmentId.podNamespace]
    if (podName === undefined || podNamespace === undefined || ids[attachmentId.vendor] !== vendor)
      return undefined
    return { uuid, name, podName, podNamespace, podUid: ids[attachmentId.podUid] ?? '', error: error ?? '' }
  },
})

/** Pods of this node, by what a port may be named after: the pod's own name, and that of the machine that runs in it. */
const localPodTable = rowTable({
  name: 'local-pods',
  of: podTable,
  row(pod): LocalPod & { readonly holders: readonly string[] } {
    const { namespace = '', name, annotations } = pod.metadata
    const machine = virtualMachine.read(annotations)
    const names = machine === undefined ? [name] : [name, machine]
    return { uids: podIdentities(pod), holders: names.map((holder) => `${namespace}/${holder}`) }
  },
  indexes: { holder: ({ holders }) => holders },
})

const staleTable = rowTable({
  name: 'stale-ports',
  of: podPortTable,
  reads: { pods: localPodTable },
  row({ uuid, ...port }, { pods }): Answer<PortRemoval> | undefined {
    const pod = `${port.podNamespace}/${port.podName}`
    const there = pods.find('holder', pod)
    const local = there.length === 0 ? undefined : { uids: there.flatMap(({ uids }) => uids) }
    const reason = staleReason(port, local)
    return reason && { want: { name: port.name, uuid, pod, reason }, afterMs: graceMs }
  },
})

/** Removes ports of pods that are gone without a DEL: after a crash, a reboot, or a forced deletion. */
export const stalePorts: NodeFeature = {
  name: 'stale-ports',
  contributions: [contribution(portRemovals, staleTable)],
}
