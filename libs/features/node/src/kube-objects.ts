import type { KubeObject } from '@kube-ovn/kube'

/** What the agent reads of a Pod; its informer keeps nothing else. */
export interface LocalPodObject extends KubeObject {
  readonly spec?: { readonly hostNetwork?: boolean }
}

/** What the agent reads of a Node. */
export interface NodeObject extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
    readonly conditions?: readonly NodeCondition[]
  }
}

export interface NodeCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly lastHeartbeatTime?: string
}

/** What the agent reads of a ServiceCIDR (networking.k8s.io/v1). */
export interface ServiceCidrObject extends KubeObject {
  readonly spec?: { readonly cidrs?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

export function internalAddresses(node: NodeObject | undefined): readonly string[] {
  return (node?.status?.addresses ?? [])
    .filter((address) => address.type === 'InternalIP')
    .map((address) => address.address)
}

/**
 * All identities by which a runtime may know a pod.
 *
 * kubelet gives a static pod a uid of its own before the API server makes one for the mirror object, and notes it in
 * the annotations kubernetes.io/config.hash and config.mirror. A uid is unique, so any annotation that equals it will do.
 */
export function podIdentities(pod: KubeObject): readonly string[] {
  return [pod.metadata.uid ?? '', ...Object.values(pod.metadata.annotations ?? {})]
}
