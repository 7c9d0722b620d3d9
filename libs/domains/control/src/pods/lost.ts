import type { Pod } from '@kube-ovn/kube-api/core'
import { podPortName } from '@kube-ovn/ovn-names'
import type { ControlWorld } from '../world.ts'
import { storeIndex } from '../watched-kinds.ts'
import { holderKey, holderOf, ownersOfKey } from './holder.ts'

/**
 * In how many milliseconds a pod gives its ports and addresses back although its object stays: 0 if it has lost them by
 * now, `undefined` while it keeps them.
 *
 * That is one that is being deleted on a node that is lost, once its grace period has passed twice: `deletionTimestamp` is
 * the end of the first one, and so much is left to a node that may still be at work. Addresses that are a StatefulSet's or
 * a machine's are not the pod's to give. What was given back is not taken again when the node returns.
 */
export function lostInMs(pod: Pod, world: ControlWorld): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined
  if (holderOf(pod, world.settings).kind !== 'pod') return undefined
  const endMs = Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
  const leftMs = Math.max(0, endMs - world.now())
  if (world.livingNodes.get(pod.spec.nodeName ?? '') === undefined) return leftMs
  return leftMs === 0 && !hasRecords(pod, world) ? 0 : undefined
}

/** Whether a pod has given its ports and addresses back although its object stays. */
export function isLost(pod: Pod, world: ControlWorld): boolean {
  return lostInMs(pod, world) === 0
}

/** Whether anything says that addresses are the pod's. Its annotations do not: they stay as they were. */
function hasRecords({ metadata: { namespace = '', name } }: Pod, world: ControlWorld): boolean {
  const key = holderKey({ namespace, name })
  return (
    ownersOfKey(key).some((owner) => world.ipam.leasesOf(owner).length > 0) ||
    world.ips.find(storeIndex.ipsByPod, key).length > 0 ||
    world.northbound.find('Logical_Switch_Port', 'name', podPortName(namespace, name)).length > 0
  )
}
