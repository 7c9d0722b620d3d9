import { providerNetworkKeysOf } from '@kube-ovn/annotations'
import type { KubeObject, Node } from '@kube-ovn/kube-api/core'

export function internalAddresses(node: Node | undefined): readonly string[] {
  return (node?.status?.addresses ?? [])
    .filter((address) => address.type === 'InternalIP')
    .map((address) => address.address)
}

/**
 * All identities by which a runtime may know a pod.
 *
 * kubelet gives a static pod a uid of its own before the API server makes one for the mirror object, and notes it in
 * the annotations config.hash and config.mirror. A uid is unique, so any annotation that equals it will do.
 */
export function podIdentities(pod: KubeObject): readonly string[] {
  return [pod.metadata.uid ?? '', ...Object.values(pod.metadata.annotations ?? {})]
}

/** MTU of the NIC by which a node is connected to a physical network, by the labels of its object; `undefined` while it is not. */
export function mtuOfNetwork(labels: Readonly<Record<string, string>>, network: string): number | undefined {
  const keys = providerNetworkKeysOf(network)
  const mtu = labels[keys.ready] === 'true' ? Number(labels[keys.mtu]) : 0
  return Number.isSafeInteger(mtu) && mtu > 0 ? mtu : undefined
}
