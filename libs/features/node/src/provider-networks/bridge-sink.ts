import {
  fingerprintOf,
  judgeProbation,
  nothingToDo,
  type Owner,
  type ProbationFiles,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import type { KubeOvnError } from '@kube-ovn/errors'
import { macFromName } from '@kube-ovn/ip'
import type { Logger } from '@kube-ovn/log'
import type { LinkInfo, Netlink, NetlinkEvent } from '@kube-ovn/netlink'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { Clock } from '@kube-ovn/time'
import type { Operation } from 'ovsdb-client'
import { isDeepStrictEqual } from 'node:util'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  integrationBridge,
  openVswitchRow,
  removePortOperations,
  setBridgeConfig,
  setMapKeys,
  type BridgeRow,
  type LocalOvs,
  type OpenVswitchRow,
  type PortRow,
} from '../local-ovs.ts'
import { waitUntil, withinMs } from '../wait-until.ts'
import { LifelineLostError, ProviderNetworkInvalidError, ProviderNicTakenBackError } from './errors.ts'
import type { Lifelines } from './lifelines.ts'
import { putAddresses, putRoutes, readLinkState, stripLink, type LinkState } from './link-state.ts'
import { mappingKeys, mappingOf, withMapping } from './mappings.ts'
import type { Obstacles } from './obstacles.ts'
import type { ProviderBridge } from './snapshot.ts'

export const providerBridges: SinkKind<ProviderBridge> = {
  name: 'provider-bridges',
  targets: ({ network }) => [network],
  // What the specification says is looked at where it is read.
  validate: () => undefined,
}

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
  /** What answered before. */
  readonly lifelines: readonly string[]
}

export function isKeptNic(value: unknown): value is KeptNic {
  const { source, nic, bridge, bridgeIndex, state, lifelines } = (value ?? {}) as Partial<KeptNic>
  return (
    [source, nic, bridge].every((text) => typeof text === 'string') &&
    typeof bridgeIndex === 'number' &&
    Array.isArray(state?.addresses) &&
    Array.isArray(state.routes) &&
    Array.isArray(lifelines)
  )
}

/** What there is of a network on this node. */
interface Connection {
  readonly row: BridgeRow
  /** Port of the NIC. */
  readonly nic: PortRow | undefined
  /** Names of ports that somebody else has put there. */
  readonly foreign: readonly string[]
}

export interface ProviderBridgeSinkOptions {
  readonly ovs: LocalOvs
  readonly host: Pick<
    Netlink,
    | 'link'
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
  readonly obstacles: Obstacles
  readonly clock: Clock
  readonly log: Logger
}

/** How long the ways that the node needs may take to answer once a NIC was connected. */
const probationMs = 10_000

/** How long vswitchd may take to let go of the name of a bridge that the NIC had before. */
const releaseTimeoutMs = 5_000

const exchangeKey = 'exchange-link-name'

/**
 * Connects the node to physical networks: a bridge for each, with the NIC in it and the NIC's addresses and routes on it.
 *
 * A NIC is moved on probation: the node must reach on new connections what it reached before, or all is as it was. A NIC of which nobody wants
 * anything any more is given back, with what the bridge has by then.
 */
export class ProviderBridgeSink implements Sink<ProviderBridge>, Disposable {
  readonly kind = providerBridges
  readonly #options: ProviderBridgeSinkOptions
  readonly #stopped = new AbortController()
  /** By network: names and indexes of the links whose changes concern it. */
  readonly #concerned = new Map<
    string,
    { readonly names: readonly string[]; readonly indexes: readonly number[] }
  >()

  constructor(options: ProviderBridgeSinkOptions) {
    this.#options = options
  }

  /** What is on probation stays so, for the next agent. */
  [Symbol.dispose](): void {
    this.#stopped.abort()
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
          carryOut: () => this.#takeBack(network, 'confirmation in time'),
        }
      case 'confirm':
        return {
          changes: [`confirmation of ${known?.kept.source ?? ''}`],
          carryOut: () => this.#confirm(network),
        }
      case 'refuse':
        return holder === undefined ? nothingToDo : refusal(holder.owner, takenBack(holder.fragment))
      case 'begin':
      case 'hold':
    }
    if (holder === undefined || wanted === undefined) this.#options.obstacles.set(network, undefined)
    if (holder === undefined || wanted === undefined)
      return isComplete ? this.#planRemoval(network, root) : nothingToDo
    const connection = this.#find(network, root)
    const isOther =
      connection !== undefined &&
      (connection.row.name !== wanted.bridge ||
        (connection.nic !== undefined && wanted.source !== undefined && connection.nic.name !== wanted.nic))
    if (isOther) return { ...this.#planRemoval(network, root), isWaiting: true }
    const obstacle = this.#obstacleOf(wanted, connection)
    this.#options.obstacles.set(network, obstacle)
    if (obstacle !== undefined) return refusal(holder.owner, obstacle)
    return this.#planConnection(wanted, holder.owner, connection, root)
  }

  owned(): readonly string[] {
    const { ovs, probations } = this.#options
    const root = openVswitchRow(ovs)
    const mappings = root?.external_ids[mappingKeys.bridges] ?? ''
    const mapped = mappings.split(',').map((entry) => entry.split(':')[0]?.trim() ?? '')
    const marked = [...ovs.cache.scan('Bridge')].flatMap(({ external_ids: ids }) => ownerOf(ids) ?? [])
    return [
      ...new Set([
        ...probations.rows.keys(),
        ...marked,
        ...mapped.filter((network) => root !== undefined && this.#find(network, root) !== undefined),
      ]),
    ]
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
        else if (event.kind === 'link') tell(({ names }) => names.includes(event.link.name))
        else if (event.kind === 'address') tell(({ indexes }) => indexes.includes(event.address.index))
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
    const names = [wanted?.bridge, wanted?.nic, wanted?.source, kept?.bridge, kept?.nic, kept?.source].filter(
      (name) => name !== undefined,
    )
    const indexes = names.flatMap((name) => host.link(name)?.index ?? [])
    this.#concerned.set(network, { names, indexes })
  }

  /** Finds the bridge by our mark, or one of an earlier release by what it is mapped to. */
  #find(network: string, root: OpenVswitchRow): Connection | undefined {
    const { ovs } = this.#options
    const marked = [...ovs.cache.scan('Bridge')].find((row) => ownerOf(row.external_ids) === network)
    const mapped = findBridge(ovs, mappingOf(root.external_ids[mappingKeys.bridges], network) ?? '')
    const row =
      marked ??
      (mapped !== undefined && isOurs(mapped) && ownerOf(mapped.external_ids) === undefined
        ? mapped
        : undefined)
    if (row === undefined) return undefined
    const ports = row.ports.flatMap((uuid) => ovs.cache.get('Port', uuid) ?? [])
    const outer = ports.filter(
      (port) => !['internal', 'patch'].includes(findInterface(ovs, port.name)?.type ?? ''),
    )
    const nic = outer.find(isOurs)
    const inner = ports.filter(
      (port) => findInterface(ovs, port.name)?.type === 'internal' && port.name !== row.name,
    )
    return { row, nic, foreign: [...outer, ...inner].filter((port) => !isOurs(port)).map(({ name }) => name) }
  }

  /** Why a NIC can not be connected. */
  #obstacleOf(wanted: ProviderBridge, connection: Connection | undefined): KubeOvnError | undefined {
    const { ovs, host } = this.#options
    const { source, nic, bridge } = wanted
    if (connection === undefined && findBridge(ovs, bridge) !== undefined)
      return new ProviderNetworkInvalidError({
        ...{ field: 'bridge', value: bridge },
        cure: 'remove the bridge of Open vSwitch that has this name and is not ours',
      })
    if (source === undefined) return undefined
    const link = host.link(nic) ?? host.link(source)
    if (link === undefined) return undefined
    const holder = findAttached(ovs, link.name)
    if (holder !== undefined && holder.bridge.name !== bridge && link.name !== holder.bridge.name)
      return new ProviderNetworkInvalidError({
        ...{ field: 'spec.defaultInterface', value: source },
        cure: `take it out of bridge ${holder.bridge.name}, or name another interface`,
      })
    const master = link.masterIndex === undefined ? undefined : host.link(link.masterIndex)
    if (master !== undefined && master.kind !== 'openvswitch')
      return new ProviderNetworkInvalidError({
        ...{ field: 'spec.defaultInterface', value: source },
        cure: `name ${master.name}, which has it as one of its ports, or another interface`,
      })
    return undefined
  }

  #planConnection(
    wanted: ProviderBridge,
    owner: Owner,
    connection: Connection | undefined,
    root: OpenVswitchRow,
  ): SinkPlan {
    const { host, ovs } = this.#options
    const { network, bridge, source, nic } = wanted
    const isRenamed =
      source === undefined || source === nic || connection !== undefined || host.link(nic) !== undefined
    if (!isRenamed)
      return {
        changes: [`${source} called ${nic}`],
        isWaiting: true,
        carryOut: () => this.#rename(wanted, source),
      }
    const link = source === undefined ? undefined : host.link(nic)
    // The table that it is wanted by has seen it.
    if (source !== undefined && link === undefined) return { ...nothingToDo, isWaiting: true }
    const operations = [
      ...this.#bridgeOperations(wanted, owner, connection?.row, link),
      ...this.#mappingOperations(root, network, bridge),
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
    if (!isAttached)
      return {
        changes: [`${nic} in bridge ${bridge}`],
        carryOut: () => this.#move(wanted, source, link, ends),
      }
    return this.#planUpkeep(wanted, source, link, ends, connection.nic)
  }

  /** A NIC that is connected, as it is. */
  #planUpkeep(
    wanted: ProviderBridge,
    source: string,
    link: LinkInfo,
    ends: LinkInfo,
    port: PortRow,
  ): SinkPlan {
    const { host, ovs, probations } = this.#options
    const { network, nic, bridge } = wanted
    const changes: (readonly [what: string, write: () => void | Promise<void>])[] = []
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
    const stray = readLinkState(host, link.index)
    if (stray.addresses.length > 0)
      changes.push([
        `${stray.addresses.map(({ cidr }) => cidr).join(' ')} of ${nic} on ${bridge}`,
        () => this.#transfer(stray, link.index, ends.index),
      ])
    const known = probations.get(network)
    const kept = known?.kept
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
    const state = isBare ? kept.state : readLinkState(host, ends.index)
    const next: KeptNic = {
      ...{ source: kept?.source ?? source, nic, bridge, bridgeIndex: ends.index, state },
      lifelines: kept?.lifelines ?? [],
    }
    if (!isDeepStrictEqual(kept, next) && changes.length === 0)
      changes.push([
        `what ${bridge} has, noted`,
        () => probations.set(network, { ...confirmed(wanted), kept: next }),
      ])
    return {
      changes: changes.map(([what]) => what),
      carryOut: async () => {
        for (const [, write] of changes) await write()
        if (isBare) probations.set(network, { ...confirmed(wanted), kept: next })
      },
    }
  }

  #bridgeOperations(
    wanted: ProviderBridge,
    owner: Owner,
    row: BridgeRow | undefined,
    link: LinkInfo | undefined,
  ): readonly Operation[] {
    const { ovs } = this.#options
    const { operations } = ovs
    const root = openVswitchRow(ovs)
    const datapath_type = root?.external_ids[datapathKey] ?? ''
    const ids = {
      [externalId.vendor]: vendor,
      [externalId.owner]: owner,
      [exchangeKey]: String(wanted.source !== undefined && wanted.source !== wanted.nic),
    }
    const config = {
      'mac-learning-fallback': String(wanted.hasMacLearningFallback),
      ...(link?.mac === undefined ? {} : { hwaddr: link.mac }),
    }
    if (row !== undefined)
      return [
        ...((row.datapath_type || kernelDatapath) === (datapath_type || kernelDatapath)
          ? []
          : [operations.update('Bridge', row._uuid, { datapath_type })]),
        ...setMapKeys(ovs, 'Bridge', row, Object.entries(ids)),
        ...setBridgeConfig(ovs, row, Object.entries(config)),
      ]
    if (root === undefined) return []
    const { bridge: name } = wanted
    return [
      operations.insert('Interface', { name, type: 'internal' }, 'interface'),
      operations.insert('Port', { name, interfaces: [{ named: 'interface' }] }, 'port'),
      operations.insert(
        'Bridge',
        { name, datapath_type, ports: [{ named: 'port' }], external_ids: ids, other_config: config },
        'bridge',
      ),
      operations.mutate('Open_vSwitch', root._uuid, [['bridges', 'insert', [{ named: 'bridge' }]]]),
    ]
  }

  /** Entries of others stay; one that comes at the same time makes this try fail to be seen, and is seen at the next one. */
  #mappingOperations(
    root: OpenVswitchRow,
    network: string,
    bridge: string | undefined,
  ): readonly Operation[] {
    const { ovs } = this.#options
    const { external_ids: ids } = root
    const mac =
      mappingOf(ids[mappingKeys.macs], network) ?? macFromName(`${ids['system-id'] ?? ''}/${network}`)
    const wanted = [
      [mappingKeys.bridges, withMapping(ids[mappingKeys.bridges], network, bridge)],
      [mappingKeys.macs, withMapping(ids[mappingKeys.macs], network, bridge === undefined ? undefined : mac)],
    ] as const
    const changes = wanted.filter(([key, value]) => ids[key] !== value)
    if (changes.length === 0) return []
    return [
      ovs.operations.wait('Open_vSwitch', root._uuid, '==', { external_ids: ids }),
      ...setMapKeys(ovs, 'Open_vSwitch', root, changes),
    ]
  }

  /** Gives the NIC another name, and keeps what it had. */
  #rename({ network, nic, bridge, ...rest }: ProviderBridge, source: string): void {
    const { host, probations } = this.#options
    const link = host.link(source)
    if (link === undefined) return
    const state = readLinkState(host, link.index)
    const kept = { source, nic, bridge, bridgeIndex: 0, state, lifelines: [] }
    probations.set(network, { ...confirmed({ network, nic, bridge, ...rest }), kept })
    this.#callLink(link, nic, state)
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

  /** Connects a NIC on probation. */
  async #move(wanted: ProviderBridge, source: string, link: LinkInfo, ends: LinkInfo): Promise<void> {
    const { host, ovs, probations, lifelines, clock } = this.#options
    const { network, nic, bridge, trunks } = wanted
    const answering = await lifelines.answering()
    const row = findBridge(ovs, bridge)
    if (row === undefined || this.#stopped.signal.aborted) return
    const state = readLinkState(host, link.index)
    const original =
      probations.get(network)?.kept.nic === nic ? probations.get(network)?.kept.source : undefined
    const kept: KeptNic = {
      ...{ source: original ?? source, nic, bridge, bridgeIndex: ends.index, state },
      lifelines: answering,
    }
    const untilMs = clock.now() + probationMs
    probations.set(network, { fragment: printOf(wanted), state: 'open', untilMs, kept })
    try {
      host.changeLink(link.index, { up: true })
      host.changeLink(ends.index, { up: true })
      // Before they go from the NIC: the node has them all the time.
      putAddresses(host, ends.index, state)
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
    } catch (error) {
      await this.#takeBack(network, 'completion', error)
      return
    }
    await this.#confirm(network)
  }

  async #confirm(network: string): Promise<void> {
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
      await this.#takeBack(network, kept.lifelines.join(' '), error)
      return
    }
    probations.set(network, { ...known, state: 'confirmed' })
    log.info('interface was connected', { network, link: kept.nic, bridge: kept.bridge })
  }

  async #takeBack(network: string, lost: string, err?: unknown): Promise<void> {
    const { probations, log } = this.#options
    const known = probations.get(network)
    if (known === undefined) return
    log.warn('interface is taken back', { network, link: known.kept.source, lost, err })
    await this.#giveBack(network, known.kept)
    probations.set(network, { ...known, state: 'reverted' })
  }

  #planRemoval(network: string, root: OpenVswitchRow): SinkPlan {
    const { host, probations } = this.#options
    const connection = this.#find(network, root)
    const known = probations.get(network)
    if (connection === undefined && known === undefined) return nothingToDo
    const bridge = connection?.row.name ?? known?.kept.bridge ?? ''
    const nic = connection?.nic?.name ?? known?.kept.nic ?? ''
    const ends = connection === undefined ? undefined : host.link(bridge)
    // It was made anew and is bare, or it has what it has been given since.
    const isAsKept = ends === undefined || ends.index !== known?.kept.bridgeIndex
    const state =
      known !== undefined && isAsKept
        ? known.kept.state
        : ends === undefined
          ? { addresses: [], routes: [] }
          : readLinkState(host, ends.index)
    const source = known?.kept.source ?? (connection?.row.external_ids[exchangeKey] === 'true' ? bridge : nic)
    const isReverted = known?.state === 'reverted' && connection === undefined
    return {
      changes: isReverted
        ? [`nothing known of ${network}`]
        : [...(nic === '' ? [] : [`${nic} given back`]), `no bridge ${bridge}`],
      carryOut: async () => {
        const kept = { source, nic, bridge, bridgeIndex: ends?.index ?? 0, state, lifelines: [] }
        if (!isReverted) await this.#giveBack(network, kept)
        probations.delete(network)
      },
    }
  }

  /** Takes a NIC out of its bridge with what it had, and the bridge away. Each step may have been taken already. */
  async #giveBack(network: string, { source, nic, bridge, state }: KeptNic): Promise<void> {
    const { host, ovs } = this.#options
    const link =
      nic === ''
        ? undefined
        : (host.link(nic) ?? (host.link(bridge) === undefined ? host.link(source) : undefined))
    if (link !== undefined) {
      host.changeLink(link.index, { up: true })
      putAddresses(host, link.index, state)
    }
    const root = openVswitchRow(ovs)
    const connection = root === undefined ? undefined : this.#find(network, root)
    if (root !== undefined) {
      await ovs.transact([
        ...(connection === undefined ? [] : this.#removalOperations(root, connection)),
        ...this.#mappingOperations(root, network, undefined),
      ])
    }
    if (link === undefined) return
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
  }

  #removalOperations(root: OpenVswitchRow, { row, nic, foreign }: Connection): readonly Operation[] {
    const { ovs } = this.#options
    if (foreign.length === 0)
      return [ovs.operations.mutate('Open_vSwitch', root._uuid, [['bridges', 'delete', [row._uuid]]])]
    // It is theirs from now on.
    const attached = nic === undefined ? undefined : findAttached(ovs, nic.name)
    return [
      ...(attached === undefined ? [] : removePortOperations(ovs, attached)),
      ...setMapKeys(
        ovs,
        'Bridge',
        row,
        [externalId.vendor, externalId.owner, exchangeKey].map((key) => [key, undefined]),
      ),
    ]
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

  #transfer(state: LinkState, from: number, to: number): void {
    const { host } = this.#options
    host.changeLink(to, { up: true })
    putAddresses(host, to, state)
    putRoutes(host, to, state)
    stripLink(host, from, state)
    putRoutes(host, to, state)
  }
}

/** Of `Open_vSwitch.external_ids`: which data path ovn-controller gives bridges. */
const datapathKey = 'ovn-bridge-datapath-type'
const kernelDatapath = 'system'

const feature = 'provider-networks'

/** The network of a bridge of ours. */
function ownerOf(ids: Readonly<Record<string, string>>): string | undefined {
  const owner = ids[externalId.owner] ?? ''
  return ids[externalId.vendor] === vendor && owner.startsWith(`${feature}/`)
    ? owner.slice(feature.length + 1)
    : undefined
}

function isOurs({ external_ids: ids }: { readonly external_ids: Readonly<Record<string, string>> }): boolean {
  return ids[externalId.vendor] === vendor
}

/** What a probation is about: tags come and go without one. */
function printOf({ network, generation, bridge, source, nic }: ProviderBridge): string {
  return fingerprintOf({ network, generation, bridge, source, nic })
}

function confirmed(wanted: ProviderBridge): { fragment: string; state: 'confirmed'; untilMs: number } {
  return { fragment: printOf(wanted), state: 'confirmed', untilMs: 0 }
}

function refusal(owner: Owner, problem: KubeOvnError): SinkPlan {
  return { ...nothingToDo, refused: new Map([[owner, problem]]) }
}

export function takenBack({ source = '' }: Pick<ProviderBridge, 'source'>): ProviderNicTakenBackError {
  return new ProviderNicTakenBackError({
    ...{ field: 'spec.defaultInterface', value: source, lost: 'the API server or the Southbound' },
    cure: 'name an interface by which the node does not reach these, or see to it that it does by the bridge, and edit the ProviderNetwork',
  })
}
