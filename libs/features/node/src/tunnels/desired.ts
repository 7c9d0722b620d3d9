import { TunnelAddressNotFoundError, TunnelNicNotFoundError } from '../errors.ts'
import type { NetworkType, TunnelLink, TunnelSnapshot } from './snapshot.ts'

/** Where this node's tunnels end, and what follows from it. */
export interface DesiredTunnel {
  readonly linkName: string
  readonly address: string
  /** MTU of what travels inside, bytes. */
  readonly mtu: number
  /** Keys of `Open_vSwitch.external_ids` that the agent owns. */
  readonly externalIds: Readonly<Record<string, string>>
}

/** Bytes that the encapsulation takes from the link's MTU, with some slack. */
const overhead: Readonly<Record<NetworkType, number>> = { geneve: 100, vlan: 100, vxlan: 50, stt: 72 }

/** What an outer IPv6 header is longer than an outer IPv4 header. */
const ipv6Extra = 20

/**
 * Chooses the tunnels' end.
 *
 * @throws TunnelNicNotFoundError, TunnelAddressNotFoundError
 */
export function desiredTunnel(snapshot: TunnelSnapshot): DesiredTunnel {
  const { settings, node } = snapshot
  const { link, address } = chooseEnd(snapshot)
  const derived = link.mtu - overhead[settings.networkType] - (address.includes(':') ? ipv6Extra : 0)
  const others = [...new Set(node.networks.values())].filter((other) => other !== address).sort()
  return {
    linkName: link.name,
    address,
    mtu: settings.mtu > 0 ? settings.mtu : derived,
    externalIds: {
      'ovn-encap-ip': [address, ...others].join(','),
      'ovn-encap-ip-default': address,
      'ovn-encap-csum': String(settings.hasEncapChecksum),
    },
  }
}

interface TunnelEnd {
  readonly link: TunnelLink
  readonly address: string
}

function chooseEnd(snapshot: TunnelSnapshot): TunnelEnd {
  const { settings, node } = snapshot
  if (node.hasUserspaceDatapath) return endAt('--dpdk-tunnel-iface', settings.dpdkTunnelIface, snapshot)
  if (node.tunnelInterface !== '') return endAt('tunnel_interface', node.tunnelInterface, snapshot)
  if (settings.iface !== '') return endAt('--iface', settings.iface, snapshot)
  return endByAddress(snapshot)
}

/** The link that owns the node's own address. */
function endByAddress({ settings, node, links }: TunnelSnapshot): TunnelEnd {
  const address =
    settings.podIp ||
    node.internalAddresses.find((candidate) => !candidate.includes(':')) ||
    node.internalAddresses[0] ||
    ''
  const link = links.find((candidate) => candidate.addresses.some((cidr) => withoutMask(cidr) === address))
  if (link === undefined) {
    throw new TunnelNicNotFoundError({
      field: settings.podIp === '' ? 'status.addresses of the Node' : 'POD_IP',
      value: address,
      cure: 'name the interface by --iface or the annotation tunnel_interface of the Node',
    })
  }
  return { link, address }
}

/** The link that an expression names, and the first of its addresses that a tunnel may end at. */
function endAt(field: string, expression: string, snapshot: TunnelSnapshot): TunnelEnd {
  const named = findLink(expression, snapshot.links)
  const bridge = named?.bridge
  const link =
    bridge === undefined ? named : (snapshot.links.find((candidate) => candidate.name === bridge) ?? named)
  if (link === undefined) {
    throw new TunnelNicNotFoundError({
      field,
      value: expression,
      cure: `give one of ${snapshot.links.map((candidate) => candidate.name).join(', ')}`,
    })
  }
  const address = usableAddresses(link, snapshot.settings.acceptsHostMasks)[0]
  if (address === undefined) {
    throw new TunnelAddressNotFoundError({
      field,
      value: link.name,
      cure: 'give it an address that is not link-local; a /32 or /128 needs --host-tunnel-src',
    })
  }
  return { link, address }
}

/** An exact name wins; else the first link in the kernel's order that any of the expressions matches anywhere. */
function findLink(expression: string, links: readonly TunnelLink[]): TunnelLink | undefined {
  const exact = links.find((link) => link.name === expression)
  if (exact !== undefined) return exact
  const patterns = expression
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => tryPattern(part))
    .filter((pattern) => pattern !== undefined)
  return links.find((link) => patterns.some((pattern) => pattern.test(link.name)))
}

function tryPattern(text: string): RegExp | undefined {
  try {
    return new RegExp(text)
  } catch {
    return undefined
  }
}

function usableAddresses(link: TunnelLink, acceptsHostMasks: boolean): readonly string[] {
  return link.addresses
    .filter((cidr) => acceptsHostMasks || !isHostMask(cidr))
    .map((cidr) => withoutMask(cidr))
    .filter((address) => !isLinkLocal(address) && !isLoopback(address))
    .filter((address) => link.preferredSources.length === 0 || isPreferred(link, address))
}

/** The list of preferred sources binds the families that occur in it. */
function isPreferred(link: TunnelLink, address: string): boolean {
  const sources = link.preferredSources.filter((source) => source.includes(':') === address.includes(':'))
  return sources.length === 0 || sources.includes(address)
}

function withoutMask(cidr: string): string {
  const slash = cidr.indexOf('/')
  return slash < 0 ? cidr : cidr.slice(0, slash)
}

function isHostMask(cidr: string): boolean {
  return cidr.endsWith(cidr.includes(':') ? '/128' : '/32')
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(address)
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
