import { readInterfaceRequest, readPodRequest, type PodRequest } from '@kube-ovn/annotations'
import { tryParseMac } from '@kube-ovn/ip'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { PodNic } from '@kube-ovn/domains-control/pods'

/** What a pod asks for one of its NICs. */
export interface NicRequest extends Omit<PodRequest, 'mac'> {
  /** `false`: none is wanted, since another CNI chooses it. */
  readonly mac: PodRequest['mac'] | false
}

/**
 * Reads what a pod asks for a NIC: in annotations for this one of several, then in the request for the network, then
 * in annotations for the network.
 *
 * @throws AnnotationInvalidError
 */
export function readNicRequest({ metadata: { annotations } }: Pod, nic: PodNic): NicRequest {
  const request = readPodRequest(annotations, nic.provider)
  const own = nic.own && readInterfaceRequest(annotations, nic.own)
  const isOurs = nic.has === 'port'
  return {
    ...request,
    addresses: own?.addresses ?? nic.asked?.addresses ?? request.addresses,
    mac: own?.mac ?? tryParseMac(nic.asked?.mac ?? '') ?? (isOurs ? request.mac : false),
  }
}
