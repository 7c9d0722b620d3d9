import type { ApiObject } from './client.ts'

const namespace = 'default'

/** A network of OVN for further NICs of pods, in the namespace `default`. */
export interface FurtherNetwork {
  /** As annotations and flags name it. */
  readonly provider: string
  /** Its NetworkAttachmentDefinition, and its Subnet. */
  readonly objects: readonly ApiObject[]
}

/** Describes one, whose Subnet has its name, and what else its specification says. */
export function furtherNetwork(name: string, cidrBlock: string, more: object = {}): FurtherNetwork {
  const provider = `${name}.${namespace}.ovn`
  const config = {
    ...{ cniVersion: '0.3.1', type: 'kube-ovn', provider },
    server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
  }
  const subnet = {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name },
    spec: { cidrBlock, provider, ...more },
  }
  return { provider, objects: [networkAttachment(name, JSON.stringify(config)), subnet] }
}

/** A NetworkAttachmentDefinition in the namespace `default`, whose configuration should be a text of JSON. */
export function networkAttachment<T>(
  name: string,
  config: T,
): ApiObject & { readonly spec: { readonly config: T } } {
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace },
    spec: { config },
  }
}
