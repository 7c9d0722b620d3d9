import { KubeOvnError } from '@kube-ovn/errors'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { ControlWorld } from '../world.ts'
import { needsPort } from './alive.ts'
import { holderOf } from './holder.ts'
import { isLost } from './lost.ts'
import { nicsOf, type PodNic } from './nic.ts'

/** The NICs of a pod that are ports on the subnet, in the order of its networks. */
export function portsOn(pod: Pod, subnet: string, world: ControlWorld): readonly PodNic[] {
  if (!needsPort(pod) || isLost(pod, world)) return []
  try {
    const nics = nicsOf(pod, holderOf(pod, world.settings), world)
    return nics.filter(({ has, port }) => has === 'port' && world.ipam.lease(port)?.subnet === subnet)
  } catch (error) {
    // A pod whose networks can not be read keeps its ports as they are, and is told so.
    if (error instanceof KubeOvnError) return []
    throw error
  }
}
