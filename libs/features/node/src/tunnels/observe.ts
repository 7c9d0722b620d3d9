import { AnnotationInvalidError, nodeAnnotations, nodeLabel } from '@kube-ovn/annotations'
import { formatIp, type Ip } from '@kube-ovn/ip'
import type { Node } from '@kube-ovn/kube-api/core'
import type { HostLink } from '../host-links.ts'
import { internalAddresses } from '../kube-objects.ts'
import type { LocalBridge } from '../local-bridges.ts'
import type { TunnelSettings, TunnelSnapshot } from './snapshot.ts'

/** What tunnels follow from, and what of it could not be used. */
export interface TunnelObservation {
  readonly snapshot: TunnelSnapshot
  readonly problem?: AnnotationInvalidError
}

export function observeTunnel(
  settings: TunnelSettings,
  node: Node,
  links: readonly HostLink[],
  bridges: readonly LocalBridge[],
): TunnelObservation {
  const { annotations, labels } = node.metadata
  const { networks, problem } = readNetworks(node)
  const snapshot = {
    settings,
    node: {
      hasUserspaceDatapath: labels?.[nodeLabel.datapath] === 'userspace',
      tunnelInterface: nodeAnnotations.tunnelInterface.read(annotations) ?? '',
      networks,
      internalAddresses: internalAddresses(node),
    },
    links: links
      .toSorted((a, b) => a.index - b.index)
      .map(({ name, mtu, addresses, preferredSources }) => {
        const bridge = bridges.find((one) => one.isOurs && one.name !== name && one.ports.includes(name))
        return { name, mtu, addresses, preferredSources, ...(bridge && { bridge: bridge.name }) }
      }),
  }
  return { snapshot, ...(problem && { problem }) }
}

interface Networks {
  readonly networks: ReadonlyMap<string, string>
  readonly problem?: AnnotationInvalidError
}

/** An annotation that cannot be read costs the node its further networks, not its tunnels. */
function readNetworks(node: Node): Networks {
  try {
    const networks = nodeAnnotations.nodeNetworks.read(node.metadata.annotations) ?? new Map<string, Ip>()
    return { networks: new Map([...networks].map(([name, ip]) => [name, formatIp(ip)])) }
  } catch (problem) {
    if (!(problem instanceof AnnotationInvalidError)) throw problem
    return { networks: new Map(), problem }
  }
}
