import type { Server } from 'node:http'
import {
  FragmentKernel,
  NftablesSink,
  PolicyRouteSink,
  RouteSink,
  SysctlSink,
  type FragmentKernelOptions,
  type NodeSource,
  type ProbationFiles,
  type SysctlAccess,
} from '@kube-ovn/fragments'
import type { Informer } from '@kube-ovn/kube'
import type { OvnEip, ProviderNetwork, Subnet, Vlan } from '@kube-ovn/kube-api'
import type { EndpointSlice, KubeObject, Node, Pod, Service, ServiceCidr } from '@kube-ovn/kube-api/core'
import type { Netfilter } from '@kube-ovn/netfilter'
import type { Flows, Netlink } from '@kube-ovn/netlink'
import { objectKeyOf } from '@kube-ovn/reconcile/work'
import type { Table } from '@kube-ovn/tables'
import { Announcements } from './announcements.ts'
import { egressRoutes } from './egress-routes/feature.ts'
import { externalAddresses } from './external-addresses/feature.ts'
import { hostFirewall } from './host-firewall/feature.ts'
import { HostEvents } from './host-events.ts'
import { HostLinks, linkTable } from './host-links.ts'
import { bridgeTable, LocalBridges } from './local-bridges.ts'
import { interfaceTable, openVswitchTable, watchLocalRows } from './local-interfaces.ts'
import { findInterface, openVswitchRow, type LocalOvs } from './local-ovs.ts'
import { kubeletProbes } from './kubelet-probes/feature.ts'
import { mirroring } from './mirroring/feature.ts'
import { sampling } from './sampling/feature.ts'
import { madeNicTable, nodeEip } from './node-eip/feature.ts'
import type { MadeNic } from './node-eip/desired.ts'
import { GatewayNicSink, type NamespaceAccess } from './node-eip/gateway-nic-sink.ts'
import { nodeNic } from './node-nic/feature.ts'
import { NodeLinkSink, type NodeLinkSinkOptions } from './node-nic/link-sink.ts'
import { portQosFeature } from './port-qos/feature.ts'
import { nodeStatus } from './node-status/feature.ts'
import type { Observable } from './observable.ts'
import { ProviderBridgeSink } from './provider-networks/bridge-sink.ts'
import type { KeptNic } from './provider-networks/nic-moves.ts'
import {
  connectionStatusTable,
  obstacleTable,
  probationTable,
  providerNetworks,
} from './provider-networks/feature.ts'
import type { ConnectionStatus } from './provider-networks/desired.ts'
import type { Lifelines } from './provider-networks/lifelines.ts'
import { Obstacles } from './provider-networks/obstacles.ts'
import { routerMacs } from './router-macs/feature.ts'
import { services } from './services/feature.ts'
import { HealthCheckSink } from './services/health-check-sink.ts'
import { StaleFlowSink } from './services/stale-flow-sink.ts'
import { BridgeFlowSink } from './sinks/bridge-flows.ts'
import { MirrorSink } from './sinks/mirrors.ts'
import { SampleCollectorSink } from './sinks/sample-collectors.ts'
import { NodeObjectSink, type NodePatch } from './sinks/node-object.ts'
import { OffloadSink } from './sinks/offloads.ts'
import { OvsRowsSink } from './sinks/ovs-rows.ts'
import { PhysicalBridges, type OpenFlowBridges } from './sinks/physical-bridges.ts'
import { PortQosSink } from './sinks/port-qos.ts'
import { ProbePathSink } from './sinks/probe-path.ts'
import { PortRemovalSink, type PortRemovalSinkOptions } from './sinks/port-removals.ts'
import { StaticMacSink, type StaticMacSinkOptions } from './sinks/static-macs.ts'
import { stalePorts } from './stale-ports/feature.ts'
import {
  agentTable,
  nodeTable,
  ovnEipTable,
  podTable,
  providerNetworkTable,
  serviceCidrTable,
  serviceTable,
  sliceTable,
  subnetTable,
  theNode,
  tunnelMtuTable,
  vlanTable,
  type AgentFacts,
} from './tables.ts'
import { tunnels, tunnelTable } from './tunnels/feature.ts'
import { userspaceTaps } from './userspace-taps/feature.ts'

type Objects<T extends KubeObject> = Pick<Informer<T>, 'store' | 'onChange'>

export interface NodeKernelOptions extends Omit<FragmentKernelOptions, 'features' | 'lanes'> {
  readonly agent: AgentFacts
  readonly nodes: Objects<Node>
  readonly subnets: Objects<Subnet>
  readonly networks: Objects<ProviderNetwork>
  readonly vlans: Objects<Vlan>
  /** Those of routers and nodes. */
  readonly ovnEips: Objects<OvnEip>
  /** Of this node only. */
  readonly pods: Objects<Pod>
  /** `undefined` where the API server has no ServiceCIDR objects (before Kubernetes 1.33). */
  readonly serviceCidrs: Objects<ServiceCidr> | undefined
  /** `undefined` where kube-proxy serves them. */
  readonly services: Objects<Service> | undefined
  /** By {@link sliceIndexes}. */
  readonly slices: Objects<EndpointSlice> | undefined
  readonly flows: Flows
  /** Has a server listen on the host. */
  listen(server: Server, port: number): void
  readonly ovs: LocalOvs
  readonly bridges: OpenFlowBridges
  readonly macTables: StaticMacSinkOptions['macTables']
  /** The host's own network namespace. */
  readonly host: Netlink
  readonly podNics: PortRemovalSinkOptions['podNics']
  readonly patchNode: NodePatch
  /** Is told the MTU of what travels in tunnels. */
  readonly tunnelMtu: Observable<number | undefined>
  readonly netfilter: Netfilter
  readonly announce: NodeLinkSinkOptions['announce']
  onAnnounceFailed(): void
  readonly sysctls: SysctlAccess
  /** For what the node does beside its own network. */
  readonly namespaces: NamespaceAccess
  /** What is known of NICs that were moved into bridges. */
  readonly probations: ProbationFiles<KeptNic>
  /** What must answer after such a move as it did before. */
  readonly lifelines: Lifelines
  /** Is told how the node is connected to a physical network, when it is so for the first time and when that changes. */
  onConnection(network: string, status: ConnectionStatus | undefined): void
}

/** The features of a node, and the sinks that make true what they say. To be started when all objects are there. */
export function createNodeKernel(options: NodeKernelOptions): FragmentKernel {
  const { agent, netfilter, sysctls, ovs, tunnelMtu, host, podNics, log } = options
  const events = new HostEvents(host)
  const onEvent: HostEvents['listen'] = (listener) => events.listen(listener)
  const { clock, probations, lifelines } = options
  const announcements = new Announcements(options)
  const obstacles = new Obstacles()
  const bridgeSink = new ProviderBridgeSink({
    ovs,
    host,
    onEvent,
    probations,
    lifelines,
    obstacles,
    takeArrived: () => events.takeArrived(),
    clock,
    log,
  })
  const healthCheckSink = new HealthCheckSink((server, port) => options.listen(server, port))
  const physicalBridges = new PhysicalBridges(options)
  const madeNics = new Map<string, MadeNic>()
  const gatewayNicSink = new GatewayNicSink({
    ...{ host, sysctls, clock, log, random: options.random, onEvent, namespaces: options.namespaces },
    onMade(link, made) {
      const old = madeNics.get(link)
      if (made === undefined) madeNics.delete(link)
      else madeNics.set(link, made)
      kernel.changed(madeNicTable, link, old, made)
    },
  })
  const kernel: FragmentKernel = new FragmentKernel({
    ...options,
    features: [
      tunnels,
      nodeNic,
      providerNetworks,
      hostFirewall,
      services,
      egressRoutes,
      userspaceTaps,
      nodeStatus,
      stalePorts,
      portQosFeature,
      mirroring,
      sampling,
      kubeletProbes,
      externalAddresses,
      routerMacs,
      nodeEip,
    ],
    lanes: [
      [
        new OvsRowsSink(ovs),
        new NodeLinkSink({ ...options, announcements, onEvent }),
        new OffloadSink({ host, onEvent }),
        new RouteSink({ host, onEvent, log }),
        new PolicyRouteSink({ host, onEvent }),
        new ProbePathSink({ host, sysctls, onEvent }),
      ],
      [new NftablesSink(netfilter), new StaleFlowSink(options.flows, netfilter), new SysctlSink(sysctls)],
      [new NodeObjectSink({ ...options, nodeName: agent.nodeName })],
      [new PortRemovalSink({ ovs, podNics })],
      [new PortQosSink(ovs)],
      [healthCheckSink],
      [new MirrorSink(ovs)],
      [new SampleCollectorSink(ovs)],
      [
        new BridgeFlowSink({ ...options, physicalBridges }),
        new StaticMacSink({ ...options, physicalBridges }),
      ],
      [gatewayNicSink],
      // It waits for what must answer.
      [bridgeSink],
    ],
  })
  const agents = new Map([[theNode, agent]])
  kernel.attach(
    agentTable,
    sourceOf(() => agents),
  )
  kernel.use(events)
  kernel.use(announcements)
  kernel.use(bridgeSink)
  kernel.use(gatewayNicSink)
  kernel.use(healthCheckSink)
  kernel.use(physicalBridges)
  kernel.attach(
    madeNicTable,
    sourceOf(() => madeNics),
  )
  attachProviderNetworks(kernel, { ...options, obstacles })
  attachLinks(kernel, options, onEvent)
  attachTunnelMtu(kernel, tunnelMtu)
  attachBridges(kernel, ovs)
  kernel.follow(tunnelTable, theNode, (tunnel) => {
    if (tunnel === undefined || !('want' in tunnel) || tunnel.want.mtu === tunnelMtu.value) return
    const { address: ip, linkName: link, mtu } = tunnel.want
    options.log.info('tunnel end was chosen', { ip, link, mtu })
    tunnelMtu.set(mtu)
  })
  attachLocalRows(kernel, ovs)
  attachObjects(kernel, podTable, options.pods)
  attachObjects(kernel, nodeTable, options.nodes)
  attachObjects(kernel, subnetTable, options.subnets)
  attachObjects(kernel, providerNetworkTable, options.networks)
  attachObjects(kernel, vlanTable, options.vlans)
  attachObjects(kernel, ovnEipTable, options.ovnEips)
  attachObjects(kernel, serviceCidrTable, options.serviceCidrs)
  attachObjects(kernel, serviceTable, options.services)
  attachObjects(kernel, sliceTable, options.slices)
  return kernel
}

function attachLinks(
  kernel: FragmentKernel,
  { host, clock, log, random }: NodeKernelOptions,
  onEvent: HostEvents['listen'],
): void {
  const links = new HostLinks({
    ...{ host, clock, log, random, onEvent },
    onChange: (name, old, now) => kernel.changed(linkTable, name, old, now),
  })
  kernel.use(links)
  kernel.attach(
    linkTable,
    sourceOf(() => links.rows),
  )
}

function attachProviderNetworks(
  kernel: FragmentKernel,
  { probations, obstacles, onConnection }: NodeKernelOptions & { readonly obstacles: Obstacles },
): void {
  kernel.attach(
    probationTable,
    sourceOf(() => probations.rows),
  )
  kernel.use(probations.onChange((target, old, now) => kernel.changed(probationTable, target, old, now)))
  kernel.attach(
    obstacleTable,
    sourceOf(() => obstacles.rows),
  )
  kernel.use(obstacles.onChange((network, old, now) => kernel.changed(obstacleTable, network, old, now)))
  kernel.followAll(connectionStatusTable, onConnection)
}

function attachBridges(kernel: FragmentKernel, ovs: LocalOvs): void {
  const bridges = new LocalBridges(ovs, (name, old, now) => kernel.changed(bridgeTable, name, old, now))
  kernel.use(bridges)
  kernel.attach(bridgeTable, { ...sourceOf(() => bridges.rows), isKnown: () => hasAnswered(ovs) })
}

function attachLocalRows(kernel: FragmentKernel, ovs: LocalOvs): void {
  kernel.attach(interfaceTable, {
    get: (name) => findInterface(ovs, name),
    keys: () => [...ovs.cache.scan('Interface')].map(({ name }) => name),
    keysOf: () => [],
    isKnown: () => hasAnswered(ovs),
  })
  kernel.attach(openVswitchTable, {
    get: (key) => (key === theNode ? openVswitchRow(ovs) : undefined),
    keys: () => [theNode],
    keysOf: () => [],
    isKnown: () => hasAnswered(ovs),
  })
  kernel.use(
    watchLocalRows(ovs, {
      onInterface: (name, old, now) => kernel.changed(interfaceTable, name, old, now),
      onOpenVswitch: (key, old, now) => kernel.changed(openVswitchTable, key, old, now),
    }),
  )
}

/** The database has a row of the whole, and comes with all others: without it nobody knows what there is. */
function hasAnswered(ovs: LocalOvs): boolean {
  return openVswitchRow(ovs) !== undefined
}

function attachTunnelMtu(kernel: FragmentKernel, mtu: Observable<number | undefined>): void {
  let before = mtu.value
  const rows = (): ReadonlyMap<string, number> =>
    new Map(mtu.value === undefined ? [] : [[theNode, mtu.value]])
  kernel.attach(tunnelMtuTable, sourceOf(rows))
  kernel.use(
    mtu.onChange(() => {
      const old = before
      before = mtu.value
      kernel.changed(tunnelMtuTable, theNode, old, mtu.value)
    }),
  )
}

function sourceOf<R>(rows: () => ReadonlyMap<string, R>): NodeSource<R> {
  return { get: (key) => rows().get(key), keys: () => rows().keys(), keysOf: () => [] }
}

/** Without an informer there are no objects. */
function attachObjects<T extends KubeObject, I extends string>(
  kernel: FragmentKernel,
  table: Table<T, I>,
  informer: Objects<T> | undefined,
): void {
  kernel.attach(table, {
    get: (key) => informer?.store.get(key),
    keys: () => [...(informer?.store.values() ?? [])].map((object) => objectKeyOf(object.metadata)),
    keysOf: (index, value) =>
      (informer?.store.find(index, value) ?? []).map((object) => objectKeyOf(object.metadata)),
  })
  if (informer === undefined) return
  kernel.use(informer.onChange(({ key, old, new: now }) => kernel.changed(table, key, old, now)))
}
