import type { SinkPlan } from '@kube-ovn/fragments'
import type { LinkInfo } from '@kube-ovn/netlink'
import type { BridgeRows, Connection } from './bridge-rows.ts'
import type { FallenLinks } from './fallen-links.ts'
import { readLinkState } from './link-state.ts'
import type { NicMoves, NicMovesOptions, VlanMove } from './nic-moves.ts'
import type { ProviderBridge } from './snapshot.ts'
import {
  chooseVlans,
  networkOfAlias,
  vlanDevicesOf,
  type KeptVlan,
  type WantedVlan,
} from './vlan-interfaces.ts'

/** A change, in words, and what makes it. */
export type Change = readonly [what: string, write: () => void | Promise<void>]

/** Whether a port of the bridge of a network stands for a VLAN interface already. */
export function hasVlanPort(connection: Connection | undefined, port: string): boolean {
  return connection?.vlans.some((one) => one.port.name === port) === true
}

/** What becomes of the VLAN interfaces of a NIC that is connected. */
interface VlanUpkeep {
  /** Those that ports are about to stand for, on probation. */
  readonly taken: readonly VlanMove[]
  /** What is known of the others afterwards. */
  readonly next: readonly KeptVlan[]
  /** That is to be noted once the changes are made. */
  readonly mustNote: boolean
}

/**
 * Plans how VLAN interfaces of connected NICs are kept working.
 *
 * The kernel gives frames with a tag to its VLAN interface before the bridge sees them. So a port of the bridge with the tag stands for it,
 * has its addresses and routes, and the interface is away for as long.
 */
export class VlanPlans {
  readonly #options: Pick<NicMovesOptions, 'host' | 'ovs' | 'probations'>
  readonly #rows: BridgeRows
  readonly #moves: NicMoves
  readonly #fallen: FallenLinks

  constructor(
    options: Pick<NicMovesOptions, 'host' | 'ovs' | 'probations'>,
    rows: BridgeRows,
    moves: NicMoves,
    fallen: FallenLinks,
  ) {
    this.#options = options
    this.#rows = rows
    this.#moves = moves
    this.#fallen = fallen
  }

  /**
   * Chooses those that are kept, or `known` ones alone: those that ports stand for already.
   *
   * @throws ProviderNetworkInvalidError when one that is not known can not be kept
   */
  choose(
    wanted: ProviderBridge,
    nic: LinkInfo,
    connection: Connection | undefined,
    among: 'all' | 'known' = 'all',
  ): readonly WantedVlan[] {
    const { host, ovs, probations } = this.#options
    const { network, bridge, vlans } = wanted
    const kept = probations.get(network)?.kept.vlans ?? []
    if (!vlans.preservesAll && vlans.named.length === 0) return []
    const links = host.links()
    const devices = among === 'known' ? [] : vlanDevicesOf({ links, ovs }, nic, vlans)
    return chooseVlans(bridge, vlans, devices, [...kept, ...(connection?.vlans ?? [])], links)
  }

  /** What a VLAN interface has, or its port if that stands for it already. */
  #keptOf(wanted: WantedVlan, network: string, nic: LinkInfo): KeptVlan {
    const { host, probations } = this.#options
    const { name, id, port, device } = wanted
    const known = probations.get(network)?.kept.vlans?.find((one) => one.id === id)
    const ends = host.link(port)
    const from = device ?? ends
    const present = from && readLinkState(host, from.index)
    const isAsKnown =
      device !== undefined ||
      known === undefined ||
      (ends?.index === known.portIndex && !this.#fallen.has(ends))
    const state = isAsKnown ? present : known.state
    return {
      ...{ name, id, port, portIndex: ends?.index ?? 0 },
      mtu: device?.mtu ?? known?.mtu ?? nic.mtu,
      mac: device?.mac ?? known?.mac ?? nic.mac,
      state: state ?? { addresses: [], routes: [] },
    }
  }

  /** How a port comes to stand for the interface. */
  moveOf(vlan: WantedVlan, network: string, nic: LinkInfo): VlanMove {
    return { kept: this.#keptOf(vlan, network, nic), device: vlan.device?.index }
  }

  /** The ports that are to stand for VLAN interfaces; `undefined` when they are there. */
  planPorts(
    network: string,
    vlans: readonly WantedVlan[],
    nic: LinkInfo,
    connection: Connection | undefined,
  ): SinkPlan | undefined {
    const { ovs } = this.#options
    const missing = vlans.filter(({ port }) => !hasVlanPort(connection, port))
    if (connection === undefined || missing.length === 0) return undefined
    return {
      changes: missing.map(({ port }) => `port ${port}`),
      carryOut: async () => {
        for (const vlan of missing)
          await ovs.transact(this.#rows.vlanPort(connection.row, this.#keptOf(vlan, network, nic)))
      },
    }
  }

  /** Ports that stand for VLAN interfaces, as they are. */
  planUpkeep(
    { network, source = '' }: ProviderBridge,
    nic: LinkInfo,
    connection: Connection,
    vlans: readonly WantedVlan[],
    changes: Change[],
  ): VlanUpkeep {
    const { host, ovs, probations } = this.#options
    const known = probations.get(network)?.kept.vlans ?? []
    const taken: VlanMove[] = []
    const next: KeptVlan[] = []
    let mustNote = false
    for (const vlan of vlans) {
      const { id, name, port, device } = vlan
      const before = known.find((one) => one.id === id)
      const ends = host.link(port)
      // vswitchd makes it, and its coming is told.
      if (ends === undefined) {
        if (before !== undefined) next.push(before)
        continue
      }
      if (device !== undefined && before === undefined) {
        taken.push(this.moveOf(vlan, network, nic))
        continue
      }
      if (!ends.isUp) changes.push([`${port} up`, () => host.changeLink(ends.index, { up: true })])
      const isNew = before !== undefined && before.portIndex !== ends.index
      if (isNew) mustNote = true
      if (before !== undefined && (isNew || this.#fallen.has(ends)))
        changes.push([
          `what ${port} had before it was ${isNew ? 'made anew' : 'down'}`,
          () => {
            this.#moves.fill(ends.index, before.state)
            this.#fallen.forget(ends.index)
          },
        ])
      if (device !== undefined)
        changes.push([
          `${name}, which has come back, in ${port}`,
          () => this.#moves.replaceAgain(device.index, ends.index),
        ])
      const kept = this.#keptOf({ ...vlan, device: undefined }, network, nic)
      next.push(kept)
    }
    const isWanted = ({ id }: { readonly id: number }): boolean => vlans.some((one) => one.id === id)
    for (const vlan of this.toRestore(network, connection, nic)) {
      if (isWanted(vlan)) continue
      mustNote = true
      changes.push([
        `${vlan.name} given back`,
        async () => {
          this.#moves.restoreVlan(vlan, nic)
          const removal = this.#rows.vlanRemoval(vlan.port)
          if (removal.length > 0) await ovs.transact(removal)
          this.#moves.restoreVlan(vlan, nic)
        },
      ])
    }
    // The NIC may be one of them, under either name.
    const made = this.made(network, [source, nic.name], vlans)
    if (made.length > 0)
      changes.push([`${made.map(({ name }) => name).join(' ')} removed`, () => this.#moves.removeMade(made)])
    return { taken, next, mustNote }
  }

  /** The VLAN interfaces that ports stand for, or stood for, with what they have. */
  toRestore(network: string, connection: Connection | undefined, nic: LinkInfo): readonly KeptVlan[] {
    const kept = this.#options.probations.get(network)?.kept.vlans ?? []
    const byId = new Map<number, WantedVlan>()
    for (const { id, name, port } of kept) byId.set(id, { id, name, port, device: undefined })
    for (const { id, name, port } of connection?.vlans ?? [])
      byId.set(id, { id, name, port: port.name, device: undefined })
    return [...byId.values()].map((vlan) => this.#keptOf(vlan, network, nic))
  }

  /** VLAN interfaces that were made for a network and are of no use to it any more. */
  made(network: string, nics: readonly string[], vlans: readonly WantedVlan[]): readonly LinkInfo[] {
    const isKept = ({ name, index }: LinkInfo): boolean =>
      nics.includes(name) || vlans.some(({ device }) => device?.index === index)
    return this.#options.host.links().filter((link) => networkOfAlias(link) === network && !isKept(link))
  }
}
