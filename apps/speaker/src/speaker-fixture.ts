import { speakerApp } from '@kube-ovn/annotations'
import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { recordingLogger, type RecordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { Gobgp, type GobgpNeighbor } from '@kube-ovn/testing-bgp'
import { pod } from '@kube-ovn/testing-builders'
import { chartCrds, foreignCrds, startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { openTestNetwork, type TestNamespace, type TestNetwork } from '@kube-ovn/testing-net'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { command, type SpeakerConfig } from './config.ts'
import { runSpeaker } from './speaker.ts'

/** Addresses of the node, and of the router on its link. */
export const own = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const
export const router = { ipv4: '192.0.2.2', ipv6: '2001:db8::2' } as const
/** Key of the annotation. */
export const bgp = 'ovn.kubernetes.io/bgp'
/** Of speakers, in the chart. */
export const account = 'kube-system/kube-ovn-speaker'

interface Running {
  readonly stop: AbortController
  readonly ended: Promise<void>
}

/** A node with a GoBGP on its link, made anew for each test of a file, and an API server for all of them. */
export class SpeakerNode {
  #api: KubeApi | undefined
  #network: TestNetwork | undefined
  #here: TestNamespace | undefined
  #there: TestNamespace | undefined
  #peer: Gobgp | undefined
  /** Of the speakers that were started; by default with the rights that the chart gives them, of one on node-1. */
  kubeconfig = ''
  running: readonly Running[] = []
  /** Of the speaker that was started last. */
  log: RecordingLogger = recordingLogger()
  registry = new Registry()

  /** To be called where tests are declared. */
  static ofSuite(): SpeakerNode {
    const node = new SpeakerNode()
    beforeAll(() => node.#open())
    beforeEach(() => node.#begin())
    afterEach(() => node.#end())
    afterAll(() => node.api[Symbol.asyncDispose]())
    return node
  }

  get api(): KubeApi {
    return existing(this.#api)
  }

  get network(): TestNetwork {
    return existing(this.#network)
  }

  get here(): TestNamespace {
    return existing(this.#here)
  }

  get there(): TestNamespace {
    return existing(this.#there)
  }

  get peer(): Gobgp {
    return existing(this.#peer)
  }

  /** Starts a speaker on node-1. */
  start(...flags: readonly string[]): AbortController {
    return this.startWith({ NODE_NAME: 'node-1' }, flags)
  }

  startWith(environment: Readonly<Record<string, string>>, flags: readonly string[]): AbortController {
    this.log = recordingLogger()
    this.registry = new Registry()
    const stop = new AbortController()
    const config = this.#configOf(flags, environment)
    const ended = runSpeaker(config, this.log, this.registry, stop.signal, this.here.path)
    this.running = [...this.running, { stop, ended }]
    return stop
  }

  /** Ends all speakers. */
  async stop(): Promise<void> {
    for (const { stop } of this.running) stop.abort()
    await Promise.all(this.running.map(({ ended }) => ended))
    this.running = []
  }

  async createSubnet(name: string, cidrBlock: string, policy?: string): Promise<void> {
    const annotations = policy === undefined ? {} : { [bgp]: policy }
    await this.api.client.create(subnetResource, { metadata: { name, annotations }, spec: { cidrBlock } })
    const status = { inEffect: { cidrBlock } }
    await this.api.client.patch(
      subnetResource,
      { name },
      'application/merge-patch+json',
      { status },
      { subresource: 'status' },
    )
  }

  async createPod(
    name: string,
    nodeName: string,
    addresses: string,
    policy?: string,
    subnet = 'red',
  ): Promise<void> {
    const annotations = {
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': addresses,
      'ovn.kubernetes.io/mac_address': '00:00:00:5e:00:01',
      'ovn.kubernetes.io/logical_switch': subnet,
      ...(policy === undefined ? {} : { [bgp]: policy }),
    }
    const spec: Pod['spec'] = { nodeName, containers: [{ name: 'c', image: 'c' }] }
    await this.api.client.create(pods, { metadata: { namespace: 'default', name, annotations }, spec })
  }

  /** A speaker on node-2, which is Ready. */
  async createOtherSpeaker(): Promise<void> {
    const { client } = this.api
    await client.create(nodes, { metadata: { name: 'node-2' } })
    const ref = { namespace: 'kube-system', name: 'speaker-2' }
    await client.create(pods, {
      metadata: { ...ref, labels: { app: speakerApp } },
      spec: { nodeName: 'node-2', containers: [{ name: 'c', image: 'c' }] },
    })
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    await client.patch(pods, ref, 'application/merge-patch+json', { status }, { subresource: 'status' })
  }

  async removePod(name: string): Promise<void> {
    await this.api.client.remove(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 })
  }

  /** Next hops by prefix that the router knows, of both families. */
  told(): Readonly<Record<string, string>> {
    const routes = [...this.peer.routes('ipv4').values(), ...this.peer.routes('ipv6').values()]
    return Object.fromEntries(routes.map(({ prefix, nextHop }) => [prefix, nextHop]))
  }

  /** Prefixes that the router keeps of a session that is over. */
  staleRoutes(): readonly string[] {
    const routes = [...this.peer.routes('ipv4').values(), ...this.peer.routes('ipv6').values()]
    return routes.filter(({ isStale }) => isStale).map(({ prefix }) => prefix)
  }

  /** Kills the router, and starts one in its place that knows nothing. @param addresses from which the speaker may speak */
  async restartRouter(
    ofSpeaker: Partial<GobgpNeighbor> = {},
    addresses: readonly string[] = [own.ipv4, own.ipv6],
  ): Promise<void> {
    await this.peer[Symbol.asyncDispose]()
    this.#peer = this.#openRouter(ofSpeaker, addresses)
  }

  async #open(): Promise<void> {
    const accounts = { bgpSpeaker: { enabled: true } }
    this.#api = await startKubeApi({ crds: [chartCrds, foreignCrds], accounts })
  }

  async #begin(): Promise<void> {
    await this.api.client.create(nodes, { metadata: { name: 'node-1' } })
    const home = pod({ name: 'speaker-1', namespace: 'kube-system', node: 'node-1' })
    await this.api.client.create(pods, {
      ...home,
      spec: { ...home.spec, serviceAccountName: 'kube-ovn-speaker' },
    })
    this.kubeconfig = await this.api.accountKubeconfig(account, 'speaker-1')
    this.#network = openTestNetwork()
    this.#here = this.#network.namespace('node')
    this.#there = this.#network.namespace('router')
    this.#network.connect(
      { namespace: this.#here, name: 'eth0', addresses: [`${own.ipv4}/24`, `${own.ipv6}/64`] },
      { namespace: this.#there, name: 'eth0', addresses: [`${router.ipv4}/24`, `${router.ipv6}/64`] },
    )
    this.#peer = this.#openRouter()
  }

  #openRouter(
    ofSpeaker: Partial<GobgpNeighbor> = {},
    addresses: readonly string[] = [own.ipv4, own.ipv6],
  ): Gobgp {
    return new Gobgp(this.there, {
      ...{ as: 65_001, routerId: router.ipv4 },
      neighbors: addresses.map((address) => ({
        ...{ address, as: 65_000, isPassive: true, gracefulRestart: true },
        families: address.includes(':') ? (['ipv6', 'ipv4'] as const) : (['ipv4'] as const),
        ...ofSpeaker,
      })),
    })
  }

  async #end(): Promise<void> {
    await this.stop()
    await this.#peer?.[Symbol.asyncDispose]()
    this.#network?.[Symbol.dispose]()
    await this.api.reset()
  }

  #configOf(flags: readonly string[], environment: Readonly<Record<string, string>>): SpeakerConfig {
    const common = [
      ...[`--kubeconfig=${this.kubeconfig}`, '--cluster-as=65000', '--neighbor-as=65001', '--pprof-port=0'],
      ...[`--neighbor-address=${router.ipv4}`, `--neighbor-ipv6-address=${router.ipv6}`],
    ]
    const parsed = readConfig(command, [...common, ...flags], { POD_IPS: own.ipv4, ...environment })
    if (parsed.kind === 'help') throw new Error('no configuration')
    return parsed.config
  }
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is there while tests run')
  return value
}
