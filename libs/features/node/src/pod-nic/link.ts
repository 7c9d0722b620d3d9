import { formatIp, parseCidr } from '@kube-ovn/ip'
import type { Logger } from '@kube-ovn/log'
import type { LinkInfo, Netlink, NetlinkOptions } from '@kube-ovn/netlink'
import type { announceAddresses } from '@kube-ovn/probes'
import { planAddresses } from '../node-nic/plan.ts'
import type { DesiredAttachment } from './desired.ts'

/** The kernel, as far as a pod's interface is concerned. */
export interface Kernel {
  /** In the host's namespace, kept open. */
  readonly host: Netlink
  open(options: NetlinkOptions): Netlink
  /** In a namespace, `undefined` for the host's. */
  writeSysctl(netns: string | undefined, key: string, value: string): void
  announce: typeof announceAddresses
}

/** Of it, what announcing takes. */
export interface AnnouncingKernel extends Pick<Kernel, 'announce'> {
  open(options: NetlinkOptions): AnnouncingNamespace
}

interface AnnouncingNamespace extends Pick<Netlink, 'sendFrames'>, Disposable {
  link(name: string): Pick<LinkInfo, 'index'> | undefined
}

/** Packets, of either end of any device. */
export const txQueueLength = 1000

/** Gives the pod's end its addresses and routes. */
export function configurePodEnd(kernel: Kernel, wanted: DesiredAttachment, log: Logger): void {
  prepareIpv6(kernel, wanted, log)
  for (const { key, value } of wanted.sysctls) setIfPossible(kernel, wanted.netns, key, value, log)
  using inside = kernel.open({ netns: wanted.netns })
  const link = inside.link(wanted.ifName)
  if (link === undefined) throw new TypeError(`${wanted.ifName} vanished from ${wanted.netns}`)
  if (wanted.disablesTxChecksumOffload) inside.disableTxChecksumOffload(wanted.ifName)
  inside.changeLink(link.index, { up: true })
  for (const cidr of wanted.addresses) {
    // OVN hands out every address once and answers for all of them: there is nobody to detect.
    inside.addAddress(link.index, cidr, { noDad: true })
  }
  for (const route of wanted.routes) inside.replaceRoute({ ...route, index: link.index })
}

/**
 * Tells the pod's neighbours where its addresses are. A pod may have an address that another one had until a moment ago, with another
 * MAC address, and who talked to that one goes on sending there for as long as its kernel keeps it (tens of seconds).
 */
export function announcePodEnd(kernel: AnnouncingKernel, wanted: DesiredAttachment): void {
  using inside = kernel.open({ netns: wanted.netns })
  const link = inside.link(wanted.ifName)
  if (link === undefined) throw new TypeError(`${wanted.ifName} vanished from ${wanted.netns}`)
  const ips = wanted.addresses.map((cidr) => formatIp(parseCidr(cidr).address))
  kernel.announce(inside, { index: link.index, mac: wanted.mac, ips })
}

/** Tells what differs from what was made; nothing when the interface is as it should be. */
export function comparePodEnd(kernel: Kernel, wanted: DesiredAttachment): readonly string[] {
  using inside = kernel.open({ netns: wanted.netns })
  const link = inside.link(wanted.ifName)
  if (link === undefined) return [`interface ${wanted.ifName} is missing`]
  const differences: string[] = []
  if (!link.isUp) differences.push(`interface ${wanted.ifName} is down`)
  if (link.mac !== wanted.mac) differences.push(`MAC is ${link.mac ?? 'unset'}, not ${wanted.mac}`)
  if (wanted.mtu > 0 && link.mtu !== wanted.mtu) differences.push(`MTU is ${link.mtu}, not ${wanted.mtu}`)
  for (const cidr of planAddresses(wanted.addresses, inside.addresses(link.index)).add) {
    differences.push(`address ${cidr} is missing`)
  }
  const routes = inside.routes({ index: link.index })
  for (const route of wanted.routes) {
    const isThere = routes.some(
      (other) => other.destination === route.destination && other.gateway === route.gateway,
    )
    if (!isThere) differences.push(`route ${route.destination} via ${route.gateway ?? 'the link'} is missing`)
  }
  return differences
}

function prepareIpv6(kernel: Kernel, { netns }: DesiredAttachment, log: Logger): void {
  for (const scope of ['all', 'default']) {
    setIfPossible(kernel, netns, `ipv6/conf/${scope}/disable_ipv6`, '0', log)
    setIfPossible(kernel, netns, `ipv6/conf/${scope}/accept_ra`, '0', log)
  }
}

/** Hosts without IPv6, or containers that may not write settings, are not a reason to refuse a pod. */
export function setIfPossible(
  kernel: Pick<Kernel, 'writeSysctl'>,
  netns: string | undefined,
  key: string,
  value: string,
  log: Logger,
): void {
  try {
    kernel.writeSysctl(netns, key, value)
  } catch (error) {
    log.debug('setting of an interface was not written', { setting: key, err: error })
  }
}
