import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BfdMonitor } from '@kube-ovn/bgp/bfd'
import { ProbationFiles, type FragmentKernel } from '@kube-ovn/fragments'
import { applyMergePatch } from '@kube-ovn/kube'
import type { OvnEip, ProviderNetwork, Subnet, Vlan } from '@kube-ovn/kube-api'
import type { EndpointSlice, Node, Pod, Service, ServiceCidr } from '@kube-ovn/kube-api/core'
import { recordingLogger } from '@kube-ovn/log'
import { openNetfilter, type Netfilter } from '@kube-ovn/netfilter'
import {
  holdFreshNamespace,
  inNamespace,
  openFlows,
  openNetlink,
  readSysctl,
  writeSysctl,
  type Netlink,
} from '@kube-ovn/netlink'
import { BridgeConnection, flowOf, MacTables } from '@kube-ovn/ovs'
import { openVswitchSchema, type OpenVswitch } from '@kube-ovn/ovsdb-schema'
import { systemClock } from '@kube-ovn/process'
import type { Clock } from '@kube-ovn/time'
import { fragmentMetrics, Registry } from '@kube-ovn/telemetry'
import { openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { startOpenVswitch, type OpenVswitchDatabase } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient } from 'ovsdb-client'
import {
  addPortOperations,
  findAttached,
  findBridge,
  integrationBridge,
  localOvsTables,
  removePortOperations,
} from '../local-ovs.ts'
import { createNodeKernel } from '../node-kernel.ts'
import { isKeptNic } from '../provider-networks/nic-moves.ts'
import type { Lifelines } from '../provider-networks/lifelines.ts'
import { Objects } from './objects.ts'
import { Observable } from '../observable.ts'
import { sliceIndexes, type AgentFacts } from '../tables.ts'

/** An agent at work on a node. */
export interface TestAgent {
  readonly kernel: FragmentKernel
  readonly tunnelMtu: Observable<number | undefined>
  readonly log: ReturnType<typeof recordingLogger>
  /** Waits until nothing is to be done, and answers what was missed: nothing. */
  settle(): Promise<readonly unknown[]>
  /** Changes that were made on the node since the agent was started. */
  writes(): Promise<number>
  stop(): Promise<void>
}

/** A node: a network namespace with a NIC, a database of Open vSwitch with nobody to act on it, and the objects that its agent watches. */
export class TestNode implements AsyncDisposable {
  readonly host: TestNamespace
  readonly database: OpenVswitchDatabase
  readonly netfilter: Netfilter
  /** Below /proc/sys/net; what is not there is 0. */
  readonly settings = new Map<string, string>()
  readonly nodes = new Objects<Node>()
  readonly subnets = new Objects<Subnet>()
  readonly networks = new Objects<ProviderNetwork>()
  readonly vlans = new Objects<Vlan>()
  readonly ovnEips = new Objects<OvnEip>()
  /** Ways that answer. */
  readonly ways = new Set(['tcp:api'])
  /** Of these, ways that do not answer once a NIC was moved. */
  readonly lostWays = new Set<string>()
  /** Called when the node is asked which ways answer, before a NIC is moved. */
  onAsked: () => void = () => undefined
  /** How the node is connected to physical networks, as it was told. */
  readonly connections: string[] = []
  readonly serviceCidrs = new Objects<ServiceCidr>()
  readonly services = new Objects<Service>()
  readonly slices = new Objects<EndpointSlice>(sliceIndexes)
  /** Whether its agents serve Services. */
  servesServices = false
  readonly pods = new Objects<Pod>()
  readonly podNics: TestPodNics
  /** Patches of the node's own object. */
  patches = 0
  readonly ovs: OvsdbClient<OpenVswitch>
  /** What neighbours were told: index of the link, MAC, addresses. */
  readonly announced: string[] = []
  readonly #stack: AsyncDisposableStack

  /** Where agents note what they move. */
  readonly folder: string

  private constructor(
    folder: string,
    host: TestNamespace,
    database: OpenVswitchDatabase,
    ovs: OvsdbClient<OpenVswitch>,
    stack: AsyncDisposableStack,
  ) {
    this.folder = folder
    this.host = host
    this.database = database
    this.netfilter = openNetfilter({ netns: host.path })
    this.ovs = ovs
    this.#stack = stack
    this.podNics = new TestPodNics(ovs)
    this.nodes.put('n1', nodeOf('n1', '192.0.2.10'))
    this.nodes.put('n2', nodeOf('n2', '192.0.2.11'))
    this.subnets.put('blue', subnetOf('blue', { cidrBlock: '10.16.0.0/16', natOutgoing: true }))
  }

  static async start(): Promise<TestNode> {
    await using stack = new AsyncDisposableStack()
    const host = stack.use(openTestNetwork()).namespace('host')
    host.run('ip', 'link', 'add', 'eth0', 'type', 'bridge')
    host.run('ip', 'link', 'set', 'eth0', 'up')
    host.run('ip', 'addr', 'add', '192.0.2.10/24', 'dev', 'eth0')
    const database = stack.use(await startOpenVswitch())
    const ovs = stack.use(clientOf(database))
    await ovs.connect()
    const folder = mkdtempSync(join(tmpdir(), 'kube-ovn-nics-'))
    stack.defer(() => rmSync(folder, { recursive: true }))
    return new TestNode(folder, host, seenBy(ovs, database), ovs, stack.move())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }

  /** Adds a port of a pod to br-int, as the way of pods does. */
  async addPodPort(
    name: string,
    podName: string,
    podUid: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const ids = { vendor: 'kube-ovn', pod_name: podName, pod_namespace: 'shop', ...more }
    const external_ids = podUid === '' ? ids : { ...ids, pod_uid: podUid }
    const bridge = findBridge(this.ovs, integrationBridge)
    if (bridge === undefined) throw new TypeError(`there is no ${integrationBridge}`)
    await this.ovs.transact(addPortOperations(this.ovs, bridge, { name, external_ids }))
  }

  /** They answer at once, or not at all. */
  #lifelines(): Lifelines {
    const { ways, lostWays } = this
    return {
      answering: async () => {
        this.onAsked()
        return [...ways]
      },
      async answered(names, signal) {
        if (names.every((name) => ways.has(name) && !lostWays.has(name))) return
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        })
      },
    }
  }

  /** Does what the API server does with a strategic merge patch of annotations and conditions. */
  #patchNode({ metadata, status }: Partial<Node>): void {
    this.patches++
    const node = this.nodes.store.get('n1')
    if (node === undefined) return
    const types = new Set((status?.conditions ?? []).map(({ type }) => type))
    const others = (node.status?.conditions ?? []).filter(({ type }) => !types.has(type))
    this.nodes.put('n1', {
      metadata: applyMergePatch(node.metadata, {
        annotations: metadata?.annotations,
        labels: metadata?.labels,
      }) as Node['metadata'],
      status: { ...node.status, conditions: [...others, ...(status?.conditions ?? [])] },
    })
  }

  /** A client of an agent's own, to whom the database has not answered yet. */
  openDatabase(): OvsdbClient<OpenVswitch> {
    return this.#stack.use(clientOf(this.database))
  }

  /**
   * `clock` is that of the agent's features: what they wait for, they wait for by it. `seenBy` changes what they see of the kernel; `ovs` is
   * by whom they see the database.
   */
  startAgent(
    tunnel: Partial<AgentFacts['tunnel']> = {},
    clock: Clock = systemClock,
    {
      isMirroredWhole = false,
      sampleTargets = [] as readonly string[],
      reachesVpcs = false,
      seenBy = (host: Netlink): Netlink => host,
      ovs = this.ovs,
    } = {},
  ): TestAgent {
    const registry = new Registry()
    const log = recordingLogger()
    const tunnelMtu = new Observable<number | undefined>(undefined)
    const own = this.#stack.use(new AsyncDisposableStack())
    const host = seenBy(own.use(openNetlink({ netns: this.host.path })))
    const { networks, vlans, nodes, subnets, serviceCidrs, pods, podNics, netfilter, settings } = this
    const kernel = own.use(
      createNodeKernel({
        ...{ clock, log, random: () => 0, metrics: fragmentMetrics(registry) },
        agent: {
          ...{ nodeName: 'n1', clusterRouter: 'ovn-cluster', nodeSwitch: 'join' },
          fallbackServicePrefixes: ['10.96.0.0/12'],
          tunnel: { ...tunnelSettings, ...tunnel },
          mirror: { isOfAll: isMirroredWhole, link: 'mirror0' },
          samples: { set: 142, targets: sampleTargets },
          hasMacLearningFallback: false,
          servesServices: this.servesServices,
          reachesVpcs,
        },
        ...{ networks, vlans, ovnEips: this.ovnEips, services: this.services, slices: this.slices },
        flows: own.use(openFlows({ netns: this.host.path })),
        listen: (server, port) => void inNamespace(this.host.path, () => server.listen(port)),
        probations: new ProbationFiles(this.folder, isKeptNic, log),
        lifelines: this.#lifelines(),
        onConnection: (network, status) => void this.connections.push(`${network} ${status?.kind ?? 'gone'}`),
        ...{ nodes, subnets, serviceCidrs, pods, podNics, netfilter, host, ovs, tunnelMtu },
        bridges: {
          flowOf,
          open: (bridge, listeners) =>
            BridgeConnection.open(
              join(this.database.root, `run/openvswitch/${bridge}.mgmt`),
              10_000,
              listeners,
            ),
        },
        namespaces: {
          ...{ create: holdFreshNamespace, open: openNetlink, readSysctl, writeSysctl },
          speakBfd: (timers, dependencies) => new BfdMonitor([], timers, dependencies),
        },
        macTables: new MacTables({
          pidFile: join(this.database.root, 'run/openvswitch/ovs-vswitchd.pid'),
          timeoutMs: 10_000,
        }),
        patchNode: async (patch) => this.#patchNode(patch),
        announce: (_host, { index, mac, ips }) => void this.announced.push([index, mac, ...ips].join(' ')),
        onAnnounceFailed: () => undefined,
        sysctls: {
          readSysctl: (key) => settings.get(key) ?? '0',
          writeSysctl: (key, value) => void settings.set(key, value),
        },
      }),
    )
    kernel.start()
    return {
      ...{ kernel, tunnelMtu, log },
      async settle() {
        await kernel.quiet()
        return kernel.recomputeAll()
      },
      async writes() {
        const metrics = await registry.getMetricsAsJSON()
        const found = metrics.find(({ name }) => name === 'kube_ovn_node_writes_total')
        return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0)
      },
      stop: () => own.disposeAsync(),
    }
  }
}

function clientOf({ address }: OpenVswitchDatabase): OvsdbClient<OpenVswitch> {
  return new OvsdbClient<OpenVswitch>({
    endpoints: [address],
    schema: openVswitchSchema,
    tables: localOvsTables,
  })
}

/** A database that answers a command once the client has seen what that changed. */
function seenBy(ovs: OvsdbClient<OpenVswitch>, database: OpenVswitchDatabase): OpenVswitchDatabase {
  return {
    ...database,
    async vsctl(...args) {
      const output = await database.vsctl(...args)
      // The server sends what others changed before it answers this.
      await ovs.transact([{ op: 'select', table: 'Open_vSwitch', where: [], columns: [] }])
      return output
    },
  }
}

/** Takes ports off as the way of pods does, without the device behind them. */
class TestPodNics {
  /** Interfaces that are worked on. */
  readonly busy = new Set<string>()
  /** Ports that can not be removed for now. */
  readonly held = new Set<string>()
  readonly removed: string[] = []
  readonly #ovs: OvsdbClient<OpenVswitch>
  readonly #listeners = new Set<(name: string) => void>()

  constructor(ovs: OvsdbClient<OpenVswitch>) {
    this.#ovs = ovs
  }

  isBusy(name: string): boolean {
    return this.busy.has(name)
  }

  onIdle(listener: (name: string) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  release(name: string): void {
    this.busy.delete(name)
    for (const listener of this.#listeners) listener(name)
  }

  async removePort(name: string): Promise<void> {
    if (this.held.has(name)) throw new TypeError('the port can not be removed')
    const attached = findAttached(this.#ovs, name)
    if (attached !== undefined) await this.#ovs.transact(removePortOperations(this.#ovs, attached))
    this.removed.push(name)
  }
}

const tunnelSettings: AgentFacts['tunnel'] = {
  networkType: 'geneve',
  ...{ mtu: 0, iface: '', dpdkTunnelIface: 'br-phy', acceptsHostMasks: false },
  ...{ hasEncapChecksum: true, podIp: '' },
}

export function nodeOf(name: string, address: string, annotations: Record<string, string> = {}): Node {
  return { metadata: { name, annotations }, status: { addresses: [{ type: 'InternalIP', address }] } }
}

export function subnetOf(
  name: string,
  inEffect: NonNullable<NonNullable<Subnet['status']>['inEffect']>,
): Subnet {
  return { metadata: { name }, status: { inEffect } }
}
