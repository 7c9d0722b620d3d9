import type { Annotations } from './annotation.ts'

/** Keys on a Node, about one provider network. */
export interface ProviderNetworkKeys {
  /** Label: the node is connected. */
  readonly ready: string
  /** Label: the NIC by which it is. */
  readonly interface: string
  /** Label: MTU of that NIC. */
  readonly mtu: string
  /** Label: the node takes no part. */
  readonly exclude: string
  /** Annotation: why it is not connected. */
  readonly problem: string
}

const suffix = '.provider-network.kubernetes.io/'

export function providerNetworkKeysOf(network: string): ProviderNetworkKeys {
  const key = (name: string): string => `${network}${suffix}${name}`
  return {
    ready: key('ready'),
    interface: key('interface'),
    mtu: key('mtu'),
    exclude: key('exclude'),
    problem: key('err_mesg'),
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
