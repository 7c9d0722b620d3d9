import { readSharedVips, speakerApp } from '@kube-ovn/annotations'
import { desiredPrefixes, type Announced } from '@kube-ovn/features-speaker'
import {
  Informer,
  nodes,
  pods,
  services,
  type KubeClient,
  type KubeObject,
  type Node,
  type Pod,
  type Service,
} from '@kube-ovn/kube'
import {
  bgpPeerResource,
  subnetResource,
  vipResource,
  type BgpPeer,
  type Subnet,
  type Vip,
} from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { SpeakerConfig } from './config.ts'
import { warningOnce } from './once-logger.ts'
import type { Source } from './source.ts'

export interface ClusterOptions {
  readonly client: KubeClient
  readonly log: Logger
  readonly config: Pick<SpeakerConfig, 'nodeName' | 'aggregate' | 'announceClusterIp'>
  readonly changed: () => void
}

/** Follows what is announced by a node: of each object is kept what decides about that. */
export class Cluster implements Source {
  readonly #options: ClusterOptions
  readonly #stack = new AsyncDisposableStack()
  readonly #nodes: Informer<Node>
  readonly #pods: Informer<Pod>
  readonly #subnets: Informer<Subnet>
  readonly #vips: Informer<Vip>
  readonly #services: Informer<Service> | undefined
  /** Begun when the node is drained: before, nobody goes by sessions of others. */
  readonly #bgpPeers: Informer<BgpPeer>
  #signal: AbortSignal | undefined
  #followsBgpPeers = false

  constructor(options: ClusterOptions) {
    const { client, log: logger, config, changed } = options
    this.#options = options
    const common = { client, logger, clock: systemClock }
    this.#nodes = this.#stack.use(new Informer({ ...common, resource: nodes, trim: trimNode }))
    this.#pods = this.#stack.use(new Informer({ ...common, resource: pods, trim: trimPod }))
    this.#subnets = this.#stack.use(new Informer({ ...common, resource: subnetResource, trim: trimSubnet }))
    this.#vips = this.#stack.use(new Informer({ ...common, resource: vipResource, trim: trimVip }))
    this.#services = config.announceClusterIp
      ? this.#stack.use(new Informer({ ...common, resource: services, trim: trimService }))
      : undefined
    this.#bgpPeers = this.#stack.use(
      new Informer({
        ...{ ...common, resource: bgpPeerResource, trim: trimBgpPeer, mayBeAbsent: true },
        logger: warningOnce(logger),
      }),
    )
    for (const informer of [...this.#all, this.#bgpPeers]) this.#stack.use(informer.onChange(changed))
  }

  start(signal: AbortSignal): void {
    this.#signal = signal
    for (const informer of this.#all) {
      informer.start(signal)
      informer.synced.catch(() => undefined)
    }
  }

  async synced(): Promise<void> {
    await Promise.all(this.#all.map(({ synced }) => synced))
  }

  get isSynced(): boolean {
    return this.#all.every(({ health }) => health.isSynced)
  }

  /** A Node; `undefined` while there is none. */
  node(name: string): Node | undefined {
    return this.#nodes.store.get(name)
  }

  announced(): Announced {
    const { nodeName, aggregate } = this.#options.config
    const name = nodeName.toLowerCase()
    if (this.node(name)?.spec?.unschedulable === true) this.#followBgpPeers()
    return desiredPrefixes({
      nodes: this.#nodes.store.values(),
      pods: [...this.#pods.store.values()],
      subnets: this.#subnets.store.values(),
      vips: this.#vips.store.values(),
      services: this.#services?.store.values() ?? [],
      bgpPeers: this.#bgpPeers.health.isSynced ? this.#bgpPeers.store.values() : undefined,
      nodeName: name,
      aggregates: aggregate,
    })
  }

  #followBgpPeers(): void {
    if (this.#followsBgpPeers) return
    this.#followsBgpPeers = true
    this.#bgpPeers.start(this.#signal)
    this.#bgpPeers.synced.then(this.#options.changed, () => undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  get #all(): readonly Pick<Informer<KubeObject>, 'start' | 'synced' | 'health' | 'onChange'>[] {
    const always = [this.#nodes, this.#pods, this.#subnets, this.#vips]
    return this.#services === undefined ? always : [...always, this.#services]
  }
}

function metadataOf({ metadata }: KubeObject): KubeObject['metadata'] {
  const { name, namespace, uid, resourceVersion, annotations } = metadata
  return {
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
    ...(annotations && { annotations }),
  }
}

function trimNode(node: Node): Node {
  const { unschedulable } = node.spec ?? {}
  return { metadata: withoutAnnotations(node), spec: { ...(unschedulable && { unschedulable }) } }
}

function trimBgpPeer(peer: BgpPeer): BgpPeer {
  const { conditions } = peer.status ?? {}
  return {
    metadata: withoutAnnotations(peer),
    ...(peer.spec && { spec: peer.spec }),
    status: { ...(conditions && { conditions }) },
  }
}

function withoutAnnotations(object: KubeObject): KubeObject['metadata'] {
  const { annotations: _, ...metadata } = metadataOf(object)
  return metadata
}

function trimPod(pod: Pod): Pod {
  const { nodeName, hostNetwork } = pod.spec
  const { phase, conditions } = pod.status ?? {}
  const { labels, annotations } = pod.metadata
  const isSpeaker = labels?.['app'] === speakerApp
  return {
    metadata: {
      ...metadataOf(pod),
      ...(isSpeaker && { labels: { app: speakerApp } }),
      // A Vip names those that share it by them.
      ...(labels && readSharedVips(annotations).length > 0 && { labels }),
    },
    spec: {
      containers: [],
      ...(nodeName && { nodeName }),
      ...(hostNetwork && { hostNetwork }),
    },
    status: {
      ...(phase && { phase }),
      ...(isSpeaker && conditions && { conditions }),
    },
  }
}

/** Counters in the status change with every pod. */
function trimSubnet(subnet: Subnet): Subnet {
  const { spec, status } = subnet
  const { conditions, inEffect } = status ?? {}
  return {
    metadata: metadataOf(subnet),
    ...(spec && { spec }),
    status: { ...(conditions && { conditions }), ...(inEffect && { inEffect }) },
  }
}

function trimVip(vip: Vip): Vip {
  const { labels, deletionTimestamp } = vip.metadata
  const { subnet, namespace, selector } = vip.spec ?? {}
  const { v4ip, v6ip, type } = vip.status ?? {}
  return {
    metadata: {
      ...metadataOf(vip),
      ...(labels && { labels }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: {
      ...(subnet && { subnet }),
      ...(namespace && { namespace }),
      ...(selector && { selector }),
    },
    status: { ...(v4ip && { v4ip }), ...(v6ip && { v6ip }), ...(type && { type }) },
  }
}

function trimService(service: Service): Service {
  const { type, clusterIP, clusterIPs } = service.spec ?? {}
  return {
    metadata: metadataOf(service),
    spec: { ...(type && { type }), ...(clusterIP && { clusterIP }), ...(clusterIPs && { clusterIPs }) },
  }
}
