import type { Logger } from '@kube-ovn/log'
import type { PodDevice } from './device.ts'
import type { DesiredAttachment } from './desired.ts'
import { setIfPossible, txQueueLength, type Kernel } from './link.ts'

/** A veth pair, of which the host's end is a port of Open vSwitch. */
export class VethDevice implements PodDevice {
  readonly #kernel: Kernel
  readonly #log: Logger

  constructor(kernel: Kernel, log: Logger) {
    this.#kernel = kernel
    this.#log = log
  }

  /** About 1 ms, no process started. */
  create(wanted: DesiredAttachment): void {
    const mtu = wanted.mtu > 0 ? { mtu: wanted.mtu } : {}
    this.#kernel.host.createVeth({
      name: wanted.hostName,
      txQueueLength,
      up: true,
      ...mtu,
      peer: { name: wanted.ifName, netns: wanted.netns, mac: wanted.mac, txQueueLength, ...mtu },
    })
    silenceHostEnd(this.#kernel, wanted.hostName, this.#log)
  }

  remove(hostName: string): boolean {
    const { host } = this.#kernel
    const link = host.link(hostName)
    if (link === undefined || link.kind !== 'veth') return false
    host.removeLink(link.index)
    return true
  }

  compare(hostName: string): readonly string[] {
    return this.#kernel.host.link(hostName)?.isUp === true ? [] : [`link ${hostName} is missing or down`]
  }
}

/**
 * Switches IPv6 off at the host's end, which is Open vSwitch's and needs no address.
 *
 * With it, the kernel adds a link-local address and four routes for each pod as soon as the pod's end is up, and ovs-vswitchd reads every route,
 * and for each of them every link, whenever a link changes: adding a port takes a time that grows with the square of the pods on the node.
 */
export function silenceHostEnd(kernel: Pick<Kernel, 'writeSysctl'>, hostName: string, log: Logger): void {
  setIfPossible(kernel, undefined, `ipv6/conf/${hostName}/disable_ipv6`, '1', log)
}
