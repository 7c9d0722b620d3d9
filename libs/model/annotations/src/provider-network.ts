import { flagAnnotation, type Annotations } from './annotation.ts'

/** Keys on a Node, about one provider network. */
export interface ProviderNetworkKeys {
  /** Label: the node is connected. */
  readonly ready: string
  /** Label: the NIC by which it is. Annotation: an operator wants it to be this one. */
  readonly interface: string
  /** Label: MTU of that NIC. */
  readonly mtu: string
  /** Label: the node takes no part. Annotation: an operator wants it so. */
  readonly exclude: string
  /** Label: VLAN interfaces of that NIC are kept working. */
  readonly vlanInterfaces: string
  /** Annotation: why it is not connected. */
  readonly problem: string
}

/** The annotations of a ProviderNetwork. */
export const providerNetworkAnnotations = {
  /**
   * A NIC may be connected by which alone a node reaches others, or is reached.
   * User.
   */
  takesOnlyNic: flagAnnotation('ovn.kubernetes.io/takes_only_nic'),
} as const

const suffix = '.provider-network.kubernetes.io/'

export function providerNetworkKeysOf(network: string): ProviderNetworkKeys {
  const key = (name: string): string => `${network}${suffix}${name}`
  return {
    ready: key('ready'),
    interface: key('interface'),
    mtu: key('mtu'),
    exclude: key('exclude'),
    vlanInterfaces: key('vlan_interfaces'),
    problem: key('err_mesg'),
  }
}

/** What an operator wants of a provider network on one Node, by annotations of that. */
export interface ProviderNetworkRequest {
  /** The node is to take no part; without meaning where the network has a selector. */
  readonly isExcluded: boolean
  /** NIC of the node, in place of what the network says; `undefined` for that. */
  readonly interface: string | undefined
}

/** Reads what annotations of a Node want of a provider network. Any text may be the name of a NIC: whether there is one, the node knows. */
export function readProviderNetworkRequest(
  network: string,
  annotations: Annotations = {},
): ProviderNetworkRequest {
  const keys = providerNetworkKeysOf(network)
  return {
    isExcluded: annotations[keys.exclude] === 'true',
    interface: annotations[keys.interface] || undefined,
  }
}

/** Names of the provider networks that marks of a Node are about. */
export function networksOfMarks(marks: Annotations = {}): readonly string[] {
  const names = Object.keys(marks).flatMap((key) => {
    const place = key.indexOf(suffix)
    return place > 0 ? [key.slice(0, place)] : []
  })
  return [...new Set(names)]
}

/** What a Node says of provider networks. */
export function ofProviderNetworks(marks: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(marks).filter(([key]) => key.includes(suffix)))
}
