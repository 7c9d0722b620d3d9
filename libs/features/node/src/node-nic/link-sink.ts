import {
  nothingToDo,
  writeEach,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import { formatIp, parseCidr } from '@kube-ovn/ip'
import type { LinkInfo, Netlink, NetlinkEvent } from '@kube-ovn/netlink'
import type { announceAddresses } from '@kube-ovn/probes'
import type { Announcements } from '../announcements.ts'
import { findInterface, isInstalled, type LocalOvs } from '../local-ovs.ts'
import type { DesiredNodeNic } from './desired.ts'
import { planAddresses } from './plan.ts'

/** A link that Open vSwitch makes, with its addresses. */
export type NodeLink = DesiredNodeNic['link'] & { readonly name: string }

export const nodeLinks: SinkKind<NodeLink> = {
  name: 'links',
  targets: ({ name }) => [name],
  validate({ addresses }) {
    for (const cidr of addresses) parseCidr(cidr)
  },
}

export interface NodeLinkSinkOptions {
  readonly host: Pick<
    Netlink,
    'link' | 'changeLink' | 'addresses' | 'addAddress' | 'removeAddress' | 'sendFrames'
  >
  /** Tells of links and addresses. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
  readonly ovs: Pick<LocalOvs, 'cache' | 'onChange'>
  readonly announce: typeof announceAddresses
  readonly announcements: Announcements
}

/** Configures links of the node's own, and tells the other nodes where their addresses are. Nobody is left to take one away from. */
export class NodeLinkSink implements Sink<NodeLink> {
  readonly kind = nodeLinks
  readonly #options: NodeLinkSinkOptions
  readonly #names = new Map<number, string>()
  /** What neighbours know, or would have been told by an earlier agent; nothing before the link was looked at. */
  readonly #announced = new Map<string, string>()

  constructor(options: NodeLinkSinkOptions) {
    this.#options = options
  }

  plan(name: string, { claims }: Wanted<NodeLink>): SinkPlan {
    const { host } = this.#options
    const wanted = claims[0]?.fragment
    if (wanted === undefined) return nothingToDo
    const link = host.link(name)
    // vswitchd has not made it yet: its coming is told.
    if (link === undefined) return { ...nothingToDo, isWaiting: true }
    const { index } = link
    this.#names.set(index, name)
    const changes = [...this.#linkChanges(link, wanted)]
    const { add, remove } = planAddresses(wanted.addresses, host.addresses(index))
    for (const cidr of remove) changes.push([`no address ${cidr}`, () => host.removeAddress(index, cidr)])
    for (const cidr of add)
      changes.push([`address ${cidr}`, () => host.addAddress(index, cidr, { noDad: true })])
    const identity = [wanted.mac, ...wanted.addresses].join(' ')
    // An agent that is started and finds all as it should be has nothing to tell.
    if (!this.#announced.has(name)) this.#announced.set(name, add.length > 0 ? '' : identity)
    const isToldOf = this.#announced.get(name) === identity
    const canBeTold = isInstalled(findInterface(this.#options.ovs, name))
    return {
      changes: [...changes.map(([what]) => what), ...(isToldOf || !canBeTold ? [] : ['announcement'])],
      isWaiting: !isToldOf && !canBeTold,
      carryOut: () => {
        writeEach(changes)
        if (!isToldOf && canBeTold) this.#announce(index, wanted, identity)
      },
    }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    const subscriptions = new DisposableStack()
    subscriptions.use(
      this.#options.onEvent((event) => {
        if (event.kind === 'resync') listener(undefined)
        else if (event.kind === 'link') listener(event.link.name)
        else if (event.kind === 'address') {
          const name = this.#names.get(event.address.index)
          if (name !== undefined) listener(name)
        }
      }),
    )
    subscriptions.use(
      this.#options.ovs.onChange((changes) => {
        // Whether its flows are installed.
        for (const { table, old, new: now } of changes) {
          const name = table === 'Interface' ? (now ?? old)?.name : undefined
          if (name !== undefined) listener(name)
        }
      }),
    )
    return subscriptions
  }

  *#linkChanges(link: LinkInfo, wanted: NodeLink): Iterable<readonly [what: string, write: () => void]> {
    const { host } = this.#options
    const { index } = link
    const { mac, txQueueLength } = wanted
    if (link.mac !== mac) yield [`MAC ${mac}`, () => host.changeLink(index, { mac })]
    if (link.txQueueLength !== txQueueLength)
      yield [`queue of ${txQueueLength}`, () => host.changeLink(index, { txQueueLength })]
    if (!link.isUp) yield ['up', () => host.changeLink(index, { up: true })]
  }

  /**
   * Tells the other nodes where the addresses are, once the flows are there: a node that comes back may have them with another MAC
   * address.
   */
  #announce(index: number, { mac, addresses, name }: NodeLink, identity: string): void {
    const { host, announce, announcements } = this.#options
    this.#announced.set(name, identity)
    const ips = addresses.map((cidr) => formatIp(parseCidr(cidr).address))
    announcements.announce(name, () => announce(host, { index, mac, ips }))
  }
}
