import {
  judgeProbation,
  nothingToDo,
  type Owner,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import type { KubeOvnError } from '@kube-ovn/errors'
import type { LinkInfo } from '@kube-ovn/netlink'
import { isDeepStrictEqual } from 'node:util'
import {
  findAttached,
  findBridge,
  findInterface,
  integrationBridge,
  openVswitchRow,
  type OpenVswitchRow,
  type PortRow,
} from '../local-ovs.ts'
import { BridgeRows, datapathKey, hasExchangedNames, ownerOf, type Connection } from './bridge-rows.ts'
import { ProviderNetworkInvalidError, ProviderNicTakenBackError } from './errors.ts'
import { FallenLinks } from './fallen-links.ts'
import { putAddresses, putRoutes, readLinkState } from './link-state.ts'
import { mappingKeys } from './mappings.ts'
import { confirmed, keptVlans, NicMoves, printOf, type KeptNic, type NicMovesOptions } from './nic-moves.ts'
import type { Obstacles } from './obstacles.ts'
import type { ProviderBridge } from './snapshot.ts'
import { networkOfAlias, type WantedVlan } from './vlan-interfaces.ts'
import { hasVlanPort, VlanPlans, type Change } from './vlan-plans.ts'

export const providerBridges: SinkKind<ProviderBridge> = {
  name: 'provider-bridges',
  targets: ({ network }) => [network],
  // What the specification says is looked at where it is read.
  validate: () => undefined,
}

export interface ProviderBridgeSinkOptions extends NicMovesOptions {
  readonly obstacles: Obstacles
  /** Has `onEvent` tell now of all that the kernel has told by now. */
  takeArrived(): void
}

/**
 * Connects the node to physical networks: a bridge for each, with the NIC in it and the NIC's addresses and routes on it.
 *
 * A NIC is moved on probation: the node must reach on new connections what it reached before, or all is as it was. A NIC of which nobody wants
 * anything any more is given back, with what the bridge has by then.
 */
export class ProviderBridgeSink implements Sink<ProviderBridge>, Disposable {
  readonly kind = providerBridges
  readonly #options: ProviderBridgeSinkOptions
  readonly #rows: BridgeRows
  readonly #moves: NicMoves
  readonly #vlans: VlanPlans
  readonly #fallen: FallenLinks
  /** By network: names and indexes of the links whose changes concern it. */
  readonly #concerned = new Map<
    string,
    { readonly names: readonly string[]; readonly indexes: readonly number[] }
  >()

  constructor(options: ProviderBridgeSinkOptions) {
    this.#options = options
    this.#rows = new BridgeRows(options.ovs)
    this.#moves = new NicMoves(options, this.#rows)
    this.#fallen = new FallenLinks(options.probations, () => options.takeArrived())
    this.#vlans = new VlanPlans(options, this.#rows, this.#moves, this.#fallen)
  }

  [Symbol.dispose](): void {
    this.#moves[Symbol.dispose]()
  }

  plan(network: string, { claims, isComplete }: Wanted<ProviderBridge>): SinkPlan {
    const { ovs, probations, clock } = this.#options
    const root = openVswitchRow(ovs)
    // Its coming is told.
    if (root === undefined) return { ...nothingToDo, isWaiting: true }
    const [holder] = claims
    const wanted = holder?.fragment
    this.#remember(network, wanted)
    const known = probations.get(network)
    switch (judgeProbation(known, wanted && printOf(wanted), clock.now())) {
      case 'take-back':
        return {
          changes: [`${known?.kept.source ?? ''} taken back`],
          carryOut: () => this.#moves.takeBack(network, 'confirmation in time'),
        }
      case 'confirm':
        return {
          changes: [`confirmation of ${known?.kept.source ?? ''}`],
          carryOut: () => this.#moves.confirm(network),
        }
      case 'refuse':
        return holder === undefined ? nothingToDo : refusal(holder.owner, takenBack(holder.fragment))
      case 'begin':
      case 'hold':
    }
    if (holder === undefined || wanted === undefined) this.#options.obstacles.set(network, undefined)
    if (holder === undefined || wanted === undefined)
      return isComplete ? this.#planRemoval(network, root) : nothingToDo
    const connection = this.#rows.find(network, root)
    const isOther =
      connection !== undefined &&
      (connection.row.name !== wanted.bridge ||
        (connection.nic !== undefined && wanted.source !== undefined && connection.nic.name !== wanted.nic))
    if (isOther) return { ...this.#planRemoval(network, root), isWaiting: true }
    const obstacle = this.#obstacleOf(wanted, connection)
    this.#options.obstacles.set(network, obstacle)
    if (obstacle === undefined) return this.#planConnection(wanted, holder.owner, connection, root)
    const refused = refusal(holder.owner, obstacle)
    // What is connected is looked after all the same.
    const isAttached = connection?.nic !== undefined && connection.nic.name === wanted.nic
    return isAttached
      ? { ...refused, ...this.#planConnection(wanted, holder.owner, connection, root, 'known') }
      : refused
  }

  owned(): readonly string[] {
    const { probations, host } = this.#options
    const made = host.links().flatMap((link) => networkOfAlias(link) ?? [])
    return [...new Set([...probations.rows.keys(), ...this.#rows.networks(), ...made])]
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    const { ovs, probations, onEvent } = this.#options
    const subscriptions = new DisposableStack()
    const tell = (
      isConcerned: (links: { names: readonly string[]; indexes: readonly number[] }) => boolean,
    ) => {
      for (const [network, links] of this.#concerned) if (isConcerned(links)) listener(network)
    }
    subscriptions.use(
      onEvent((event) => {
        if (event.kind === 'resync') listener(undefined)
        else if (event.kind === 'link') {
          this.#fallen.hear(event)
          const { name, vlanId, linkIndex = 0 } = event.link
          // A VLAN interface of a NIC may be one to keep.
          tell(
            ({ names, indexes }) =>
              names.includes(name) || (vlanId !== undefined && indexes.includes(linkIndex)),
          )
        } else if (event.kind === 'address') tell(({ indexes }) => indexes.includes(event.address.index))
        else if (event.kind === 'route') {
          const { index } = event.route
          if (index !== undefined) tell(({ indexes }) => indexes.includes(index))
        }
      }),
    )
    subscriptions.use(
      ovs.onChange((changes) => {
        for (const { table, old, new: now } of changes) {
          if (table === 'Bridge') {
            const name = (now ?? old)?.name ?? ''
            if (name === integrationBridge) continue
            const owner = ownerOf((now ?? old)?.external_ids ?? {})
            if (owner !== undefined) listener(owner)
            tell(({ names }) => names.includes(name))
          } else if (table === 'Port') {
            const name = (now ?? old)?.name ?? ''
            tell(({ names }) => names.includes(name))
          } else if (table === 'Open_vSwitch') {
            const isSame = [...Object.values(mappingKeys), datapathKey].every(
              (key) => old?.external_ids[key] === now?.external_ids[key],
            )
            if (!isSame) listener(undefined)
          }
        }
      }),
    )
    subscriptions.use(probations.onChange((network) => listener(network)))
    return subscriptions
  }

  #remember(network: string, wanted: ProviderBridge | undefined): void {
    const { host, probations } = this.#options
    const kept = probations.get(network)?.kept
    const root = openVswitchRow(this.#options.ovs)
    const ports = root === undefined ? [] : (this.#rows.find(network, root)?.vlans ?? [])
    const links = [
      wanted?.bridge,
      wanted?.nic,
      wanted?.source,
      wanted?.makes?.parent,
      kept?.bridge,
      kept?.nic,
      kept?.source,
    ]
    const names = [
      ...links.filter((name) => name !== undefined),
      ...[...ports, ...(kept?.vlans ?? [])].flatMap(({ name, port }) => [
        name,
        typeof port === 'string' ? port : port.name,
      ]),
    ]
    const indexes = names.flatMap((name) => host.link(name)?.index ?? [])
    this.#concerned.set(network, { names, indexes })
  }

  /** Why a NIC can not be connected. */
  #obstacleOf(wanted: ProviderBridge, connection: Connection | undefined): KubeOvnError | undefined {
    const { ovs, host } = this.#options
    const { network, source, field, nic, bridge } = wanted
    const namesake = connection === undefined ? this.#namesakeOf(wanted) : undefined
    if (namesake !== undefined)
      return new ProviderNetworkInvalidError({
        ...{ field: 'metadata.name', value: network },
        cure: `give it another name, or rename ${namesake} ${bridge}: its bridge would be called so`,
      })
    if (source === undefined) return undefined
    const link = host.link(nic) ?? host.link(source)
    if (link === undefined) return undefined
    if (wanted.makes !== undefined) {
      const { parent, id } = wanted.makes
      if (link.vlanId !== id || link.linkIndex !== host.link(parent)?.index)
        return new ProviderNetworkInvalidError({
          ...{ field, value: source },
          cure: `rename the interface of this name, which is not that of tag ${id} on ${parent}, or name another one`,
        })
    }
    const inTheWay = this.#vlanObstacleOf(wanted, link, connection)
    if (inTheWay !== undefined) return inTheWay
    const holder = findAttached(ovs, link.name)
    if (holder !== undefined && holder.bridge.name !== bridge && link.name !== holder.bridge.name)
      return new ProviderNetworkInvalidError({
        ...{ field, value: source },
        cure: `take it out of bridge ${holder.bridge.name}, or name another interface`,
      })
    const master = link.masterIndex === undefined ? undefined : host.link(link.masterIndex)
    if (master !== undefined && master.kind !== 'openvswitch')
      return new ProviderNetworkInvalidError({
        ...{ field, value: source },
        cure: `name ${master.name}, which has it as one of its ports, or another interface`,
      })
    return undefined
  }

  /** What has the name of the bridge that is to be made, and is none of ours. */
  #namesakeOf({ bridge, source }: ProviderBridge): string | undefined {
    const { ovs, host } = this.#options
    if (findBridge(ovs, bridge) !== undefined) return 'the bridge of Open vSwitch'
    if (findInterface(ovs, bridge) !== undefined) return 'the port of Open vSwitch'
    // A NIC may leave its name to the bridge, and links of bridges that are gone go a little later.
    const kind = bridge === source ? undefined : host.link(bridge)?.kind
    return kind === undefined || linksOfBridges.has(kind) ? undefined : `the link of kind ${kind}`
  }

  /** Why a VLAN interface of the NIC can not be kept. */
  #vlanObstacleOf(
    wanted: ProviderBridge,
    nic: LinkInfo,
    connection: Connection | undefined,
  ): KubeOvnError | undefined {
    try {
      const { ovs } = this.#options
      const taken = this.#vlans
        .choose(wanted, nic, connection)
        .find(({ port }) => findInterface(ovs, port) !== undefined && !hasVlanPort(connection, port))
      if (taken === undefined) return undefined
      return new ProviderNetworkInvalidError({
        ...{ field: 'spec.vlanInterfaces', value: taken.name },
        cure: `remove ${taken.port}, the interface of Open vSwitch that is to stand for it and is not ours`,
      })
    } catch (error) {
      if (error instanceof ProviderNetworkInvalidError) return error
      throw error
    }
  }

  #planConnection(
    claimed: ProviderBridge,
    owner: Owner,
    connection: Connection | undefined,
    root: OpenVswitchRow,
    among: 'all' | 'known' = 'all',
  ): SinkPlan {
    const { host, ovs } = this.#options
    const { network, bridge, source, nic, makes } = claimed
    if (makes !== undefined && host.link(nic) === undefined && host.link(source ?? nic) === undefined)
      return {
        changes: [`${source ?? nic} made of ${makes.parent}`],
        isWaiting: true,
        carryOut: () => this.#moves.make(claimed),
      }
    const isRenamed =
      source === undefined || source === nic || connection !== undefined || host.link(nic) !== undefined
    if (!isRenamed)
      return {
        changes: [`${source} called ${nic}`],
        isWaiting: true,
        carryOut: () => this.#moves.rename(claimed, source),
      }
    const link = source === undefined ? undefined : host.link(nic)
    // The table that it is wanted by has seen it.
    if (source !== undefined && link === undefined) return { ...nothingToDo, isWaiting: true }
    const vlans =
      link === undefined || source === undefined ? [] : this.#vlans.choose(claimed, link, connection, among)
    const tags = new Set([...claimed.trunks, ...vlans.map(({ id }) => id)])
    const wanted = { ...claimed, trunks: [...tags].sort((a, b) => a - b) }
    const operations = [
      ...this.#rows.additions(wanted, owner, connection?.row, link),
      ...this.#rows.mappings(root, network, bridge),
    ]
    const isAttached = connection?.nic?.name === nic
    const ends = host.link(bridge)
    if (operations.length > 0)
      return {
        changes: [`bridge ${bridge}`],
        isWaiting: !isAttached,
        carryOut: async () => void (await ovs.transact(operations)),
      }
    // vswitchd has not made it yet: its coming is told.
    if (ends === undefined) return { ...nothingToDo, isWaiting: true }
    if (link === undefined || source === undefined) {
      const isDown = !ends.isUp
      return {
        changes: isDown ? [`${bridge} up`] : [],
        carryOut: () => host.changeLink(ends.index, { up: true }),
      }
    }
    // Where the data path is in userspace, vswitchd takes the link down to give it its MAC address, which costs it its routes.
    if (!isAttached && ends.mac !== link.mac) return { ...nothingToDo, isWaiting: true }
    const ports = this.#vlans.planPorts(network, vlans, link, connection)
    if (ports !== undefined) return { ...ports, isWaiting: !isAttached }
    if (!isAttached) {
      // vswitchd makes links of ports, and their coming is told.
      if (vlans.some(({ port }) => host.link(port) === undefined)) return { ...nothingToDo, isWaiting: true }
      const moves = vlans.map((vlan) => this.#vlans.moveOf(vlan, network, link))
      return {
        changes: [`${nic} in bridge ${bridge}`, ...moves.map(({ kept }) => `${kept.port} for ${kept.name}`)],
        carryOut: () => this.#moves.move(wanted, source, link, ends, moves),
      }
    }
    return this.#planUpkeep(wanted, source, link, ends, { ...connection, nic: connection.nic }, vlans)
  }

  /** A NIC that is connected, as it is. */
  #planUpkeep(
    wanted: ProviderBridge,
    source: string,
    link: LinkInfo,
    ends: LinkInfo,
    connection: Connection & { readonly nic: PortRow },
    vlans: readonly WantedVlan[],
  ): SinkPlan {
    const { host, ovs, probations } = this.#options
    const { network, nic, bridge } = wanted
    const port = connection.nic
    const changes: Change[] = []
    const trunks = wanted.keepsTrunks
      ? [...new Set([...port.trunks, ...wanted.trunks])].sort((a, b) => a - b)
      : wanted.trunks
    if (
      !isDeepStrictEqual(
        [...port.trunks].sort((a, b) => a - b),
        trunks,
      )
    )
      changes.push([
        `trunks of ${nic}: ${trunks.join(' ')}`,
        async () => void (await ovs.transact([ovs.operations.update('Port', port._uuid, { trunks })])),
      ])
    for (const one of [link, ends])
      if (!one.isUp) changes.push([`${one.name} up`, () => host.changeLink(one.index, { up: true })])
    const known = probations.get(network)
    const kept = known?.kept
    const present = readLinkState(host, ends.index)
    const hasFallen = kept?.bridgeIndex === ends.index && this.#fallen.has(ends)
    if (hasFallen)
      changes.push([
        `what ${bridge} had before it was down`,
        () => {
          this.#moves.fill(ends.index, kept.state)
          this.#fallen.forget(ends.index)
        },
      ])
    const stray = readLinkState(host, link.index)
    if (stray.addresses.length > 0)
      changes.push([
        `${stray.addresses.map(({ cidr }) => cidr).join(' ')} of ${nic} on ${bridge}`,
        () => this.#moves.transfer(stray, link.index, ends.index),
      ])
    const isBare =
      kept !== undefined && kept.bridgeIndex !== ends.index && kept.bridge === bridge && kept.bridgeIndex > 0
    if (isBare && kept.state.addresses.length + kept.state.routes.length > 0)
      changes.push([
        `what ${bridge} had before it was made anew`,
        () => {
          host.changeLink(ends.index, { up: true })
          putAddresses(host, ends.index, kept.state)
          putRoutes(host, ends.index, kept.state)
        },
      ])
    const state = isBare || hasFallen ? kept.state : present
    const {
      taken,
      next: nextVlans,
      mustNote,
    } = this.#vlans.planUpkeep(wanted, link, connection, vlans, changes)
    const next: KeptNic = {
      ...{ source: kept?.source ?? source, nic, bridge, bridgeIndex: ends.index, state },
      ...{ lifelines: kept?.lifelines ?? [], ...keptVlans(nextVlans) },
      ...(wanted.makes !== undefined && wanted.vlans.preservesAll ? { leavesNic: true } : {}),
    }
    if (!isDeepStrictEqual(kept, next) && changes.length === 0)
      changes.push([
        `what ${bridge} has, noted`,
        () => probations.set(network, { ...confirmed(wanted), kept: next }),
      ])
    return {
      changes: [
        ...changes.map(([what]) => what),
        ...taken.map(({ kept: { port: to, name } }) => `${to} for ${name}`),
      ],
      carryOut: async () => {
        for (const [, write] of changes) await write()
        if (isBare || mustNote) probations.set(network, { ...confirmed(wanted), kept: next })
        if (taken.length > 0) await this.#moves.takeVlans(wanted, next, taken)
      },
    }
  }

  #planRemoval(network: string, root: OpenVswitchRow): SinkPlan {
    const { host, probations } = this.#options
    const connection = this.#rows.find(network, root)
    const known = probations.get(network)
    if (connection === undefined && known === undefined) {
      const made = this.#vlans.made(network, [], [])
      if (made.length === 0) return nothingToDo
      return {
        changes: made.map(({ name }) => `${name} removed`),
        carryOut: () => this.#moves.removeMade(made),
      }
    }
    const bridge = connection?.row.name ?? known?.kept.bridge ?? ''
    const nic = connection?.nic?.name ?? known?.kept.nic ?? ''
    const ends = connection === undefined ? undefined : host.link(bridge)
    const present = ends === undefined ? { addresses: [], routes: [] } : readLinkState(host, ends.index)
    // It was made anew or down and is bare, or it has what it has been given since.
    const isAsKept = ends === undefined || ends.index !== known?.kept.bridgeIndex || this.#fallen.has(ends)
    const state = known !== undefined && isAsKept ? known.kept.state : present
    const source =
      known?.kept.source ?? (connection !== undefined && hasExchangedNames(connection.row) ? bridge : nic)
    const isReverted = known?.state === 'reverted' && connection === undefined
    const link = nic === '' ? undefined : (host.link(nic) ?? host.link(source))
    const vlans = link === undefined ? [] : this.#vlans.toRestore(network, connection, link)
    return {
      changes: isReverted
        ? [`nothing known of ${network}`]
        : [...(nic === '' ? [] : [`${nic} given back`]), `no bridge ${bridge}`],
      carryOut: async () => {
        const kept = {
          ...{ source, nic, bridge, bridgeIndex: ends?.index ?? 0, state, lifelines: [] },
          ...keptVlans(vlans),
        }
        const [problem] = isReverted ? [] : await this.#moves.giveBack(network, kept)
        // It is known of them until they are there.
        if (problem !== undefined) throw problem
        this.#moves.removeMade(this.#vlans.made(network, [], []), known?.kept.leavesNic)
        probations.delete(network)
      },
    }
  }
}

/** Kinds of links that vswitchd makes of bridges, in the kernel's data path and in its own. */
const linksOfBridges: ReadonlySet<string> = new Set(['openvswitch', 'tun'])

function refusal(owner: Owner, problem: KubeOvnError): SinkPlan {
  return { ...nothingToDo, refused: new Map([[owner, problem]]) }
}

export function takenBack({
  source = '',
  field,
}: Pick<ProviderBridge, 'source' | 'field'>): ProviderNicTakenBackError {
  return new ProviderNicTakenBackError({
    ...{ field, value: source, lost: 'the API server or the Southbound' },
    cure: 'name an interface by which the node does not reach these, or see to it that it does by the bridge, and edit the ProviderNetwork',
  })
}
