import { podAnnotations } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList } from '@kube-ovn/ip'
import { pods } from '@kube-ovn/kube-api/core'
import {
  externalId,
  logicalSwitch,
  nodePortGroup,
  podPort,
  podPortName,
  subnetNodePortGroup,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { desiredIpObject, ipObjectRemoval } from '../addresses/ip-object.ts'
import { isReservation } from '../addresses/recorded.ts'
import { portAddresses } from '../addresses/port-addresses.ts'
import { externalIds, memberOf, ref } from '../rows.ts'
import { refusalText } from './refusal.ts'
import type { PodNeeds, PodSnapshot } from './snapshot.ts'

/**
 * Computes the port of a pod, its memberships, the record of its addresses and what the pod itself is told.
 *
 * The pod is annotated only when the port is committed: the node agent may rely on it. Port security stays empty:
 * OVN reads an empty set as "allow all".
 *
 * @see ovn-nb(5), Logical_Switch_Port
 */
export function desiredPod(snapshot: PodSnapshot): Desired {
  const { namespace, name, pod } = snapshot
  const port = podPortName(namespace, name)
  if (pod === undefined) {
    const { problem } = snapshot
    return { ...nothing, patches: recordsToRemove(snapshot), ...(problem === undefined ? {} : { problem }) }
  }
  const { placement, problem } = pod
  if (placement === undefined) {
    // A pod that runs keeps what it has: its subnet may only be misspelt for the moment.
    return {
      ...nothing,
      hold: true,
      ...(problem === undefined ? {} : { events: [refusal(snapshot, problem)], problem }),
    }
  }
  const { network, lease } = placement
  const self = ref(podPort, port)
  return {
    ...nothing,
    rows: [
      {
        kind: podPort,
        id: port,
        columns: {
          name: port,
          addresses: [portAddresses(lease)],
          external_ids: externalIds({
            [externalId.logicalSwitch]: network.name,
            [externalId.pod]: `${namespace}/${name}`,
          }),
        },
      },
    ],
    members: [
      memberOf(ref(logicalSwitch, network.name), 'ports', self),
      memberOf(ref(nodePortGroup, pod.node), 'ports', self),
      memberOf(ref(subnetNodePortGroup, `${network.name}/${pod.node}`), 'ports', self),
    ],
    patches: [
      desiredIpObject(
        { name: port, podName: name, namespace, nodeName: pod.node },
        lease,
        snapshot.ipObjects.find((ip) => ip.metadata.name === port),
      ),
      annotationPatch(namespace, name, pod, placement),
    ],
  }
}

function annotationPatch(
  namespace: string,
  name: string,
  pod: PodNeeds,
  { network, lease }: NonNullable<PodNeeds['placement']>,
): KubePatch {
  const keys = podAnnotations()
  // What a running pod was told about its subnet is not rewritten when the subnet changes: nobody would act on it.
  const first = pod.isAnnotated
    ? {}
    : {
        [keys.cidr.key]: network.cidrBlock,
        [keys.gateway.key]: network.gateway,
        ...(pod.hasNicType ? {} : { [keys.podNicType.key]: pod.nicType }),
      }
  const annotations = {
    [keys.ipAddress.key]: formatIpList(lease),
    [keys.macAddress.key]: lease.mac ?? '',
    [keys.logicalSwitch.key]: network.name,
    [keys.logicalRouter.key]: network.vpc,
    [keys.allocated.key]: 'true',
    [keys.routed.key]: 'true',
    ...first,
  }
  return { resource: pods, namespace, name, merge: { metadata: { annotations } } }
}

/** Records of a pod that is gone, of all its networks. What a user reserved outlives the pod. */
function recordsToRemove({ ipObjects }: PodSnapshot): readonly KubePatch[] {
  return ipObjects
    .filter((ip) => !isReservation(ip) || ip.metadata.deletionTimestamp !== undefined)
    .map((ip) => ipObjectRemoval(ip.metadata.name))
}

function refusal({ namespace, name, pod }: PodSnapshot, problem: KubeOvnError): KubeEvent {
  return {
    regarding: { resource: pods, namespace, name, uid: pod?.uid ?? '' },
    type: 'Warning',
    reason: 'AcquireAddressFailed',
    message: `stage=acquireAddress error=${refusalText(problem)}`,
  }
}
