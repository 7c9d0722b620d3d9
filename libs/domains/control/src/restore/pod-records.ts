import { podAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { Pod } from '@kube-ovn/kube-api/core'
import { needsPort } from '../pods/alive.ts'
import { holderOf, ownerOfHolder, type Holder } from '../pods/holder.ts'
import { isLost } from '../pods/lost.ts'
import { nicsOf, primaryNic, type PodNic } from '../pods/nic.ts'
import type { ControlWorld } from '../world.ts'
import type { Holding } from './holding.ts'

/** Reads what a pod was told that it has. Unreadable annotations hold no address; the feature writes them anew. */
export function podRecords(pod: Pod, world: ControlWorld): readonly Holding[] {
  if (!needsPort(pod) || isLost(pod, world)) return []
  const holder = holderOf(pod, world.settings)
  return nicsIfReadable(pod, holder, world).flatMap((nic) => {
    try {
      return nicRecord(pod, holder, nic, world) ?? []
    } catch (error) {
      if (error instanceof KubeOvnError) return []
      throw error
    }
  })
}

function nicsIfReadable(pod: Pod, holder: Holder, world: ControlWorld): readonly PodNic[] {
  try {
    return nicsOf(pod, holder, world)
  } catch (error) {
    if (error instanceof KubeOvnError) return [primaryNic(holder)]
    throw error
  }
}

function nicRecord(pod: Pod, holder: Holder, nic: PodNic, world: ControlWorld): Holding | undefined {
  const keys = podAnnotations(nic.provider)
  const { annotations } = pod.metadata
  if (keys.allocated.read(annotations) !== true) return undefined
  const addresses = keys.ipAddress.read(annotations)
  const mac = keys.macAddress.read(annotations)
  const subnet = nic.has === 'port' ? annotations?.[keys.logicalSwitch.key] : subnetOfProvider(nic, world)
  if (addresses === undefined || subnet === undefined || (mac === undefined && nic.has === 'port'))
    return undefined
  return {
    source: 'Pod',
    nic: nic.port,
    owner: ownerOfHolder(holder),
    subnet,
    addresses,
    mac: mac ?? false,
    isRunning: pod.status?.phase === 'Running',
  }
}

/** A pod is not told which subnet the addresses of another CNI's NIC are of. */
function subnetOfProvider({ boundTo }: PodNic, world: ControlWorld): string | undefined {
  return world.attachments.keys('provider', boundTo ?? '')[0]
}
