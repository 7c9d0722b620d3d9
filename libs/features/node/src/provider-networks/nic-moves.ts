import { fingerprintOf, type ProbationFiles } from '@kube-ovn/fragments'
import type { Logger } from '@kube-ovn/log'
import type { LinkInfo, Netlink, NetlinkEvent } from '@kube-ovn/netlink'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { Clock } from '@kube-ovn/time'
import { addPortOperations, findAttached, findBridge, openVswitchRow, type LocalOvs } from '../local-ovs.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import type { BridgeRows } from './bridge-rows.ts'
import { LifelineLostError, ProviderNetworkInvalidError } from './errors.ts'
import type { Lifelines } from './lifelines.ts'
import { putAddresses, putRoutes, readLinkState, stripLink, type LinkState } from './link-state.ts'
import type { ProviderBridge } from './snapshot.ts'
import { vlanAlias, type KeptVlan } from './vlan-interfaces.ts'

/** What a NIC had before it was connected, and what the bridge has since. */
export interface KeptNic {
  /** Name of the NIC before. */
  readonly source: string
  /** Name of the NIC while it is connected. */
  readonly nic: string
  readonly bridge: string
  /** Index of the link of the bridge; another one says that it was made anew, and is bare. */
  readonly bridgeIndex: number
  /** Addresses and routes, of the NIC before, of the bridge since. */
  readonly state: LinkState
  /** VLAN interfaces of the NIC; a record of an earlier release has none. */
  readonly vlans?: readonly KeptVlan[]
  /** The NIC was made for the network, and stays when that ends. */
  readonly leavesNic?: boolean
  /** What answered before. */
  readonly lifelines: readonly string[]
}

export function isKeptNic(value: unknown): value is KeptNic {
  const { source, nic, bridge, bridgeIndex, state, lifelines, vlans } = (value ?? {}) as Partial<KeptNic>
  return (
    [source, nic, bridge].every((text) => typeof text === 'string') &&
    typeof bridgeIndex === 'number' &&
    (vlans === undefined || (Array.isArray(vlans) && vlans.every(isKeptVlan))) &&
    Array.isArray(state?.addresses) &&
    Array.isArray(state.routes) &&
    Array.isArray(lifelines)
  )
}

function isKeptVlan({ name, port, id, portIndex, state }: Partial<KeptVlan>): boolean {
  return (
    [name, port].every((text) => typeof text === 'string') &&
    [id, portIndex].every((number) => typeof number === 'number') &&
    Array.isArray(state?.addresses) &&
    Array.isArray(state.routes)
  )
}

/** A VLAN interface that a port is about to stand for. */
export interface VlanMove {
  readonly kept: KeptVlan
  /** Index of the interface of the kernel; `undefined`: there is none any more. */
  readonly device: number | undefined
}

type Replacement = Pick<VlanMove, 'device'> & { readonly kept: Pick<KeptVlan, 'portIndex' | 'state'> }

/** What a record says of VLAN interfaces, if there are any. */
export function keptVlans(vlans: readonly KeptVlan[]): Pick<KeptNic, 'vlans'> {
  return vlans.length === 0 ? {} : { vlans }
}

/** What a probation is about: tags come and go without one. */
export function printOf({ network, generation, bridge, source, nic }: ProviderBridge): string {
  return fingerprintOf({ network, generation, bridge, source, nic })
}

/** What is known of a NIC once the node has reached all that it reached before. */
export function confirmed(wanted: ProviderBridge): { fragment: string; state: 'confirmed'; untilMs: number } {
  return { fragment: printOf(wanted), state: 'confirmed', untilMs: 0 }
}

export interface NicMovesOptions {
  readonly ovs: LocalOvs
  readonly host: Pick<
    Netlink,
    | 'link'
    | 'links'
    | 'createVlan'
    | 'removeLink'
    | 'changeLink'
    | 'addresses'
    | 'addAddress'
    | 'removeAddress'
    | 'routes'
    | 'replaceRoute'
    | 'removeRoute'
  >
  /** Tells of links, addresses and routes. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
  readonly probations: ProbationFiles<KeptNic>
  readonly lifelines: Lifelines
  readonly clock: Clock
  readonly log: Logger
}

/** How long the ways that the node needs may take to answer once a NIC was connected. */
const probationMs = 10_000

/** How long vswitchd may take to let go of the name of a bridge that the NIC had before. */
const releaseTimeoutMs = 5_000

/**
 * Moves NICs into their bridges, with their addresses and routes, and back.
 *
 * A NIC is moved on probation: the node must reach on new connections what it reached before, or all is as it was.
 */
export class NicMoves implements Disposable {
  readonly #options: NicMovesOptions
  readonly #rows: BridgeRows
  readonly #stopped = new AbortController()

  constructor(options: NicMovesOptions, rows: BridgeRows) {
    this.#options = options
    this.#rows = rows
  }

  /** What is on probation stays so, for the next agent. */
  [Symbol.dispose](): void {
    this.#stopped.abort()
  }

  /** Gives the NIC another name, and keeps what it had. */
  rename({ network, nic, bridge, ...rest }: ProviderBridge, source: string): void {
    const { host, probations } = this.#options
    const link = host.link(source)
    if (link === undefined) return
    const state = readLinkState(host, link.index)
    const kept = { source, nic, bridge, bridgeIndex: 0, state, lifelines: [] }
    probations.set(network, { ...confirmed({ network, nic, bridge, ...rest }), kept })
    const above = host
      .links()
      .filter(({ linkIndex, vlanId, isUp }) => linkIndex === link.index && vlanId !== undefined && isUp)
      .map(({ index }) => ({ index, state: readLinkState(host, index) }))
    this.#callLink(link, nic, state)
    // A NIC that was down for it took these with it.
    for (const one of above) this.fill(one.index, one.state)
  }

  /** Makes the VLAN interface that is to be the NIC. */
  make({ network, source = '', makes }: ProviderBridge): void {
    const { host } = this.#options
    const parent = makes === undefined ? undefined : host.link(makes.parent)
    if (makes === undefined || parent === undefined) return
    host.changeLink(parent.index, { up: true })
    const { index } = host.createVlan({ name: source, parentIndex: parent.index, vlanId: makes.id, up: true })
    host.changeLink(index, { alias: vlanAlias(network) })
  }

  /** Takes away VLAN interfaces that were made for a network, or leaves them to the host. */
  removeMade(links: readonly LinkInfo[], leaves = false): void {
    const { host, log } = this.#options
    for (const { index, name } of links) {
      if (leaves) host.changeLink(index, { alias: '' })
      else host.removeLink(index)
      log.info('VLAN interface is of no use any more', { link: name, leaves })
    }
  }

  /** Connects a NIC on probation. */
  async move(
    wanted: ProviderBridge,
    source: string,
    link: LinkInfo,
    ends: LinkInfo,
    vlans: readonly VlanMove[],
  ): Promise<void> {
    const { host, ovs, probations, lifelines, clock } = this.#options
    const { network, nic, bridge, trunks } = wanted
    const answering = await lifelines.answering()
    const row = findBridge(ovs, bridge)
    if (row === undefined || this.#stopped.signal.aborted) return
    const state = readLinkState(host, link.index)
    const current = vlans.map((vlan) => this.#ofNow(vlan))
    const original =
      probations.get(network)?.kept.nic === nic ? probations.get(network)?.kept.source : undefined
    const kept: KeptNic = {
      ...{ source: original ?? source, nic, bridge, bridgeIndex: ends.index, state },
      ...{ lifelines: answering, ...keptVlans(current.map((one) => one.kept)) },
    }
    const untilMs = clock.now() + probationMs
    probations.set(network, { fragment: printOf(wanted), state: 'open', untilMs, kept })
    try {
      host.changeLink(link.index, { up: true })
      host.changeLink(ends.index, { up: true })
      // Before they go from the NIC: the node has them all the time.
      putAddresses(host, ends.index, state)
      for (const { kept: vlan } of current) this.fill(vlan.portIndex, { ...vlan.state, routes: [] })
      await ovs.transact([
        ...(findAttached(ovs, nic) === undefined
          ? addPortOperations(
              ovs,
              row,
              { name: nic },
              { trunks, external_ids: { [externalId.vendor]: vendor } },
            )
          : []),
      ])
      putRoutes(host, ends.index, state)
      stripLink(host, link.index, state)
      putRoutes(host, ends.index, state)
      for (const vlan of current) this.#replace(vlan)
    } catch (error) {
      await this.takeBack(network, 'completion', error)
      return
    }
    await this.confirm(network)
  }

  /** Has ports stand for further VLAN interfaces of a NIC that is connected, on probation: if it fails, all of the NIC is given back. */
  async takeVlans(wanted: ProviderBridge, kept: KeptNic, vlans: readonly VlanMove[]): Promise<void> {
    const { host, probations, lifelines, clock } = this.#options
    const { network } = wanted
    const answering = await lifelines.answering()
    if (this.#stopped.signal.aborted) return
    const current = vlans.map((vlan) => this.#ofNow(vlan))
    const others = (kept.vlans ?? []).map((vlan) => this.#asItIs(vlan))
    probations.set(network, {
      ...{ fragment: printOf(wanted), state: 'open', untilMs: clock.now() + probationMs },
      kept: {
        ...{ ...kept, lifelines: answering },
        // It may have been given more with the changes before this one.
        state: readLinkState(host, kept.bridgeIndex),
        vlans: [...others, ...current.map((one) => one.kept)],
      },
    })
    try {
      for (const vlan of current) this.#replace(vlan)
    } catch (error) {
      await this.takeBack(network, 'completion', error)
      return
    }
    await this.confirm(network)
  }

  /** Gives the port of a VLAN interface what that has, and takes it away: the kernel would keep frames with its tag from the bridge. */
  #replace(replacement: Replacement): void {
    const { host } = this.#options
    const { kept, device } = this.#ofNow(replacement)
    const { portIndex, state } = kept
    this.fill(portIndex, state)
    if (device === undefined) return
    host.removeLink(device)
    putRoutes(host, portIndex, state)
  }

  /** With what the port has by now; one that is not there has what is known of it. */
  #asItIs(vlan: KeptVlan): KeptVlan {
    const { host } = this.#options
    const isThere = host.link(vlan.port)?.index === vlan.portIndex
    return isThere ? { ...vlan, state: readLinkState(host, vlan.portIndex) } : vlan
  }

  /** With what the interface has by now: whoever configures the host does not wait until it was moved. */
  #ofNow<M extends Replacement>(move: M): M {
    const { host } = this.#options
    const { kept, device } = move
    if (device === undefined || host.link(device) === undefined) return move
    return { ...move, kept: { ...kept, state: readLinkState(host, device) } }
  }

  /** As {@link #replace}, of an interface that has come back. */
  replaceAgain(device: number, portIndex: number): void {
    this.#replace({
      device,
      kept: { portIndex, state: readLinkState(this.#options.host, device) },
    })
  }

  /** Gives a link addresses and routes. */
  fill(index: number, state: LinkState): void {
    const { host } = this.#options
    host.changeLink(index, { up: true })
    putAddresses(host, index, state)
    putRoutes(host, index, state)
  }

  /** Makes the VLAN interface of a NIC again, with what its port has. */
  restoreVlan(vlan: KeptVlan, nic: LinkInfo): void {
    this.fill(this.#deviceOf(vlan, nic), vlan.state)
  }

  /** Index of the VLAN interface of a NIC, which is made if it is not there. */
  #deviceOf({ name, id, mtu, mac }: KeptVlan, nic: LinkInfo): number {
    const { host } = this.#options
    const present = host.link(name)
    if (present === undefined)
      return host.createVlan({
        ...{ name, parentIndex: nic.index, vlanId: id, mtu: Math.min(mtu, nic.mtu) },
        ...(mac === undefined ? {} : { mac }),
      }).index
    if (present.vlanId === id && present.linkIndex === nic.index) return present.index
    throw new ProviderNetworkInvalidError({
      ...{ field: 'spec.vlanInterfaces', value: name },
      cure: `rename the interface of this name, which is not that of tag ${id} on ${nic.name}, so that it can be made again`,
    })
  }

  /** Waits until what answered before answers again, and takes the NIC back if it does not in time. */
  async confirm(network: string): Promise<void> {
    const { probations, lifelines, clock, log } = this.#options
    const known = probations.get(network)
    if (known === undefined) return
    const { kept, untilMs } = known
    try {
      await withinMs(
        clock,
        Math.min(Math.max(untilMs - clock.now(), 0), probationMs),
        this.#stopped.signal,
        () => new LifelineLostError({ lost: kept.lifelines.join(' ') }),
        (signal) => lifelines.answered(kept.lifelines, signal),
      )
    } catch (error) {
      if (this.#stopped.signal.aborted) return
      await this.takeBack(network, kept.lifelines.join(' '), error)
      return
    }
    probations.set(network, { ...known, state: 'confirmed' })
    log.info('interface was connected', { network, link: kept.nic, bridge: kept.bridge })
  }

  async takeBack(network: string, lost: string, err?: unknown): Promise<void> {
    const { probations, log } = this.#options
    const known = probations.get(network)
    if (known === undefined) return
    log.warn('interface is taken back', { network, link: known.kept.source, lost, err })
    for (const problem of await this.giveBack(network, known.kept))
      log.warn('VLAN interface was not made again', { network, link: known.kept.source, err: problem })
    probations.set(network, { ...known, state: 'reverted' })
  }

  /**
   * Takes a NIC out of its bridge with what it had, and the bridge away. Each step may have been taken already.
   *
   * @returns why VLAN interfaces could not be made again, which keeps nothing else from being given back
   */
  async giveBack(
    network: string,
    { source, nic, bridge, state, vlans = [] }: KeptNic,
  ): Promise<readonly Error[]> {
    const { host, ovs } = this.#options
    const link =
      nic === ''
        ? undefined
        : (host.link(nic) ?? (host.link(bridge) === undefined ? host.link(source) : undefined))
    if (link !== undefined) {
      host.changeLink(link.index, { up: true })
      putAddresses(host, link.index, state)
    }
    // The node has their addresses all the time, too.
    if (link !== undefined) this.#restoreVlans(vlans, link)
    const root = openVswitchRow(ovs)
    const connection = root === undefined ? undefined : this.#rows.find(network, root)
    if (root !== undefined) {
      await ovs.transact([
        ...(connection === undefined ? [] : this.#rows.removals(root, connection)),
        ...this.#rows.mappings(root, network, undefined),
      ])
    }
    if (link === undefined) return []
    const isExchanged = source !== link.name
    if (isExchanged) {
      await this.#released(bridge, link.index)
      this.#callLink(link, source, state)
    }
    putRoutes(host, link.index, state)
    if (connection !== undefined && !isExchanged) {
      // With its link the bridge loses its routes, in whose place these were.
      await this.#released(bridge, link.index).catch(() => undefined)
      putRoutes(host, link.index, state)
    }
    // With links of ports go their routes, in whose place these were.
    for (const { port } of vlans) await this.#released(port, link.index).catch(() => undefined)
    return this.#restoreVlans(vlans, link)
  }

  #restoreVlans(vlans: readonly KeptVlan[], nic: LinkInfo): readonly Error[] {
    return vlans.flatMap((vlan) => {
      try {
        this.restoreVlan(vlan, nic)
        return []
      } catch (error) {
        return [error instanceof Error ? error : new TypeError(String(error))]
      }
    })
  }

  /** Gives one link what another one has. */
  transfer(state: LinkState, from: number, to: number): void {
    const { host } = this.#options
    host.changeLink(to, { up: true })
    putAddresses(host, to, state)
    putRoutes(host, to, state)
    stripLink(host, from, state)
    putRoutes(host, to, state)
  }

  /** Before Linux 6.2 a link must be down for it, and loses its routes and IPv6 addresses. */
  #callLink({ index, isUp }: LinkInfo, name: string, state: LinkState): void {
    const { host } = this.#options
    try {
      host.changeLink(index, { name })
      return
    } catch (error) {
      if (!isUp) throw error
    }
    host.changeLink(index, { up: false })
    try {
      host.changeLink(index, { name })
    } finally {
      host.changeLink(index, { up: true })
      putAddresses(host, index, state)
      putRoutes(host, index, state)
    }
  }

  /** Resolves when nobody but this link has the name. */
  async #released(name: string, index: number): Promise<void> {
    const { host, clock, onEvent } = this.#options
    await withinMs(
      clock,
      releaseTimeoutMs,
      this.#stopped.signal,
      () => new TypeError(`ovs-vswitchd does not let go of ${name}`),
      (signal) =>
        waitUntil(
          () => {
            const other = host.link(name)
            return other === undefined || other.index === index ? true : undefined
          },
          (recheck) => [onEvent((event) => void (event.kind === 'link' && recheck()))],
          signal,
        ),
    )
  }
}
