import { readNodeNetwork } from '@kube-ovn/annotations'
import { cidrOf, cidrText, formatIp, parseCidr, type Ip } from '@kube-ovn/ip'
import type { Informer } from '@kube-ovn/kube'
import type { Subnet } from '@kube-ovn/kube-api'
import type { Route } from '@kube-ovn/netlink'
import { nodePortName } from '@kube-ovn/ovn-names'
import type { announceAddresses } from '@kube-ovn/probes'
import type { Operation } from 'ovsdb-client'
import { internalAddresses } from '../kube-objects.ts'
import { LevelLoop } from '../level-loop.ts'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  hasUserspaceDatapath,
  integrationBridge,
  isInstalled,
  setMapKeys,
} from '../local-ovs.ts'
import { ownNode, type NodeWorld } from '../node-world.ts'
import { readSubnetFacts, routedPrefixes } from '../subnet-facts.ts'
import { desiredNodeNic, nodeNicName, type DesiredNodeNic } from './desired.ts'
import { planAddresses, planRoutes } from './plan.ts'
import type { NodeNicSnapshot, NodeNetwork } from './snapshot.ts'

export interface NodeNicSettings {
  /** `--cluster-router`: the VPC whose subnets the node reaches by this interface. */
  readonly clusterRouter: string
  /** `--node-switch`: the join subnet. */
  readonly nodeSwitch: string
  readonly announce: typeof announceAddresses
  onAnnounceFailed(): void
}

/**
 * Keeps ovn0 as it should be, in Open vSwitch and in the kernel.
 *
 * Looks again when the Node, a subnet, the rows of the port, or anything about the link in the kernel changes. When
 * vswitchd restarts with the userspace data path, the device vanishes and comes back bare: that is such a change.
 */
export class NodeNic implements Disposable {
  readonly #world: NodeWorld
  readonly #subnets: Pick<Informer<Subnet>, 'store' | 'onChange'>
  readonly #settings: NodeNicSettings
  readonly #loop: LevelLoop
  readonly #subscriptions = new DisposableStack()
  #index: number | undefined
  /** Destinations that another device has taken; ours again when it lets go. */
  #occupied: ReadonlySet<string> = new Set()
  /** What neighbours know, or would have been told by an earlier agent; `undefined` before the link was looked at. */
  #announced: string | undefined

  constructor(
    world: NodeWorld,
    subnets: Pick<Informer<Subnet>, 'store' | 'onChange'>,
    settings: NodeNicSettings,
  ) {
    this.#world = { ...world, log: world.log.child({ feature: 'node-nic' }) }
    this.#subnets = subnets
    this.#settings = settings
    this.#loop = new LevelLoop({ ...this.#world, name: 'node-nic', reconcile: () => this.#reconcile() })
  }

  start(): void {
    const { nodes, ovs, host, tunnelMtu, nodeName } = this.#world
    const trigger = (): void => this.#loop.trigger()
    const stack = this.#subscriptions
    stack.use(nodes.onChange((change) => (change.key === nodeName ? trigger() : undefined)))
    stack.use(this.#subnets.onChange(trigger))
    stack.use(tunnelMtu.onChange(trigger))
    stack.use(
      ovs.onChange((changes) => {
        const concerns = changes.some(
          ({ table, old, new: now }) =>
            (table === 'Interface' && ((now ?? old) as { readonly name?: string }).name === nodeNicName) ||
            (table === 'Bridge' && old?._uuid !== now?._uuid),
        )
        if (concerns) trigger()
      }),
    )
    stack.use(
      host.watch({ links: true, addresses: true, routes: true }, (event) => {
        if (event.kind === 'resync') trigger()
        if (event.kind === 'link' && event.link.name === nodeNicName) trigger()
        if (event.kind === 'address' && event.address.index === this.#index) trigger()
        if (event.kind === 'route' && this.#concerns(event.route)) trigger()
      }),
    )
    trigger()
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]()
    this.#loop[Symbol.dispose]()
  }

  #concerns(route: Route): boolean {
    return route.index === this.#index || this.#occupied.has(route.destination)
  }

  async #reconcile(): Promise<void> {
    const snapshot = this.#observe()
    if (snapshot === undefined) return
    const desired = desiredNodeNic(snapshot)
    const operations = this.#rowOperations(desired)
    if (operations.length > 0) {
      await this.#world.ovs.transact(operations)
      this.#world.log.info('port of the node was written', { lsp: snapshot.network.portName })
    }
    this.#applyLink(desired)
  }

  #observe(): NodeNicSnapshot | undefined {
    const { ovs, tunnelMtu, nodeName } = this.#world
    const node = ownNode(this.#world)
    const mtu = tunnelMtu.value
    if (node === undefined || mtu === undefined || findBridge(ovs, integrationBridge) === undefined)
      return undefined
    const network = readNodeNetwork(node.metadata.annotations)
    if (network === undefined) return undefined
    const subnets = [...this.#subnets.store.values()]
      .map((subnet) => readSubnetFacts(subnet, this.#settings.clusterRouter))
      .filter((facts) => facts !== undefined)
      .filter((facts) => facts.name !== this.#settings.nodeSwitch)
    return {
      network: {
        portName: network.portName ?? nodePortName(nodeName),
        mac: network.mac,
        addresses: prefixed(network),
        gateways: known([network.gateways.v4, network.gateways.v6]).map((ip) => formatIp(ip)),
      } satisfies NodeNetwork,
      mtu,
      hasUserspaceDatapath: hasUserspaceDatapath(ovs),
      internalAddresses: internalAddresses(node),
      subnets: routedPrefixes(subnets),
    }
  }

  #rowOperations({ row }: DesiredNodeNic): readonly Operation[] {
    const { ovs } = this.#world
    const bridge = findBridge(ovs, integrationBridge)
    if (bridge === undefined) return []
    const present = findInterface(ovs, nodeNicName)
    if (present === undefined || findAttached(ovs, nodeNicName) === undefined) {
      return addPortOperations(ovs, bridge, { name: nodeNicName, ...row })
    }
    const { type, mac, mtu_request } = row
    const isEqual = present.type === type && present.mac === mac && present.mtu_request === mtu_request
    return [
      ...(isEqual ? [] : [ovs.operations.update('Interface', present._uuid, { type, mac, mtu_request })]),
      ...setMapKeys(ovs, 'Interface', present, row.external_ids),
    ]
  }

  #applyLink({ link: wanted, routes }: DesiredNodeNic): void {
    const { host, log } = this.#world
    const link = host.link(nodeNicName)
    this.#index = link?.index
    // vswitchd has not made it yet: its coming is a trigger.
    if (link === undefined) return
    const { index } = link
    if (link.mac !== wanted.mac) host.changeLink(index, { mac: wanted.mac })
    if (link.txQueueLength !== wanted.txQueueLength)
      host.changeLink(index, { txQueueLength: wanted.txQueueLength })
    if (!link.isUp) host.changeLink(index, { up: true })
    if (wanted.disablesTxChecksumOffload && host.disableTxChecksumOffload(nodeNicName)) {
      log.info('tx checksum offload was switched off', { link: nodeNicName })
    }
    const addresses = planAddresses(wanted.addresses, host.addresses(index))
    for (const cidr of addresses.remove) host.removeAddress(index, cidr)
    for (const cidr of addresses.add) host.addAddress(index, cidr, { noDad: true })
    const plan = planRoutes(index, routes, host.routes())
    for (const route of plan.remove) host.removeRoute(route)
    for (const route of plan.replace) host.replaceRoute(route)
    this.#occupied = new Set(plan.occupied.map((route) => route.destination))
    for (const destination of this.#occupied)
      log.debug('route of another device was left alone', { destination })
    const written = [...addresses.add, ...plan.replace.map((route) => route.destination)]
    const removed = [...addresses.remove, ...plan.remove.map((route) => route.destination)]
    if (written.length + removed.length > 0)
      log.info('interface of the node was configured', { written, removed })
    this.#announce(index, wanted, addresses.add.length > 0)
  }

  /**
   * Tells the other nodes where the addresses are, once the flows are there: a node that comes back may have them with another MAC
   * address. Says nothing when an agent is started that finds all as it should be.
   */
  #announce(index: number, { mac, addresses }: DesiredNodeNic['link'], isNew: boolean): void {
    const { host, ovs, log } = this.#world
    const identity = [mac, ...addresses].join(' ')
    this.#announced ??= isNew ? '' : identity
    if (this.#announced === identity || !isInstalled(findInterface(ovs, nodeNicName))) return
    this.#announced = identity
    try {
      const ips = addresses.map((cidr) => formatIp(parseCidr(cidr).address))
      this.#settings.announce(host, { index, mac, ips })
    } catch (error) {
      this.#settings.onAnnounceFailed()
      log.warn('addresses were not announced', { link: nodeNicName, err: error })
    }
  }
}

function prefixed(network: {
  readonly addresses: { readonly v4?: Ip | undefined; readonly v6?: Ip | undefined }
  readonly cidrs: {
    readonly v4?: { prefixLength: number } | undefined
    readonly v6?: { prefixLength: number } | undefined
  }
}): readonly string[] {
  const { addresses, cidrs } = network
  return [
    addresses.v4 === undefined ? undefined : cidrText(cidrOf(addresses.v4, cidrs.v4?.prefixLength ?? 32)),
    addresses.v6 === undefined ? undefined : cidrText(cidrOf(addresses.v6, cidrs.v6?.prefixLength ?? 128)),
  ].filter((text) => text !== undefined)
}

function known(ips: readonly (Ip | undefined)[]): readonly Ip[] {
  return ips.filter((ip) => ip !== undefined)
}
