import type { Node } from '@kube-ovn/kube-api/core'
import { AnnotationInvalidError, nodeAnnotations, nodeLabel } from '@kube-ovn/annotations'
import { formatIp, type Ip } from '@kube-ovn/ip'
import type { Logger } from '@kube-ovn/log'
import type { Netlink } from '@kube-ovn/netlink'
import { vendor } from '@kube-ovn/ovn-names'
import { internalAddresses } from '../kube-objects.ts'
import type { LocalOvs } from '../local-ovs.ts'
import type { TunnelLink, TunnelSettings, TunnelSnapshot } from './snapshot.ts'

/** RT_SCOPE_LINK and the main table of linux/rtnetlink.h. */
const scopeLink = 253
const mainTable = 254

export function observeTunnel(
  settings: TunnelSettings,
  node: Node,
  host: Netlink,
  ovs: LocalOvs,
  log: Logger,
): TunnelSnapshot {
  const { annotations, labels } = node.metadata
  return {
    settings,
    node: {
      hasUserspaceDatapath: labels?.[nodeLabel.datapath] === 'userspace',
      tunnelInterface: nodeAnnotations.tunnelInterface.read(annotations) ?? '',
      networks: readNetworks(node, log),
      internalAddresses: internalAddresses(node),
    },
    links: observeLinks(host, ovs),
  }
}

/** An annotation that cannot be read costs the node its further networks, not its tunnels. */
function readNetworks(node: Node, log: Logger): ReadonlyMap<string, string> {
  try {
    const networks = nodeAnnotations.nodeNetworks.read(node.metadata.annotations) ?? new Map<string, Ip>()
    return new Map([...networks].map(([name, ip]) => [name, formatIp(ip)]))
  } catch (error) {
    if (!(error instanceof AnnotationInvalidError)) throw error
    log.error('annotation of the node was ignored', { err: error })
    return new Map()
  }
}

function observeLinks(host: Netlink, ovs: LocalOvs): readonly TunnelLink[] {
  const addresses = Map.groupBy(host.addresses(), (address) => address.index)
  const routes = Map.groupBy(
    host
      .routes({ table: mainTable })
      .filter((route) => route.scope === scopeLink && route.source !== undefined),
    (route) => route.index ?? 0,
  )
  return host.links().map((link) => {
    const bridge = bridgeOfOurs(ovs, link.name)
    return {
      name: link.name,
      mtu: link.mtu,
      addresses: (addresses.get(link.index) ?? []).map((address) => address.cidr),
      preferredSources: (routes.get(link.index) ?? []).flatMap((route) => route.source ?? []),
      ...(bridge === undefined ? {} : { bridge }),
    }
  })
}

/** The bridge of a provider network that a link is a port of. */
function bridgeOfOurs(ovs: LocalOvs, linkName: string): string | undefined {
  const port = ovs.cache.find('Port', 'name', linkName)[0]
  const bridge = port === undefined ? undefined : ovs.cache.find('Bridge', 'ports', port._uuid)[0]
  const isOurs = bridge?.external_ids['vendor'] === vendor && bridge.name !== linkName
  return isOurs ? bridge.name : undefined
}
