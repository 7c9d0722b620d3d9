import { bgpPeerLabels } from '@kube-ovn/annotations'
import type { BgpSpeaker, PeerChange } from '@kube-ovn/bgp'
import { Informer, type KubeClient } from '@kube-ovn/kube'
import { bgpPeerResource, type BgpPeer } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { BgpPeers } from './bgp-peers.ts'
import type { Cluster } from './cluster.ts'
import { warningOnce } from './once-logger.ts'

export interface PeerStatusesOptions {
  readonly client: KubeClient
  readonly log: Logger
  readonly cluster: Cluster
  readonly speaker: Pick<BgpSpeaker, 'statusOf'>
  readonly nodeName: string
  /** Addresses of routers. */
  readonly neighbors: readonly string[]
}

/** Shows the sessions of a node as BgpPeers of its Node object. */
export class PeerStatuses implements AsyncDisposable {
  readonly #options: PeerStatusesOptions
  readonly #stack = new AsyncDisposableStack()
  readonly #objects: Informer<BgpPeer>
  readonly #peers: BgpPeers
  #nodeBefore: string | undefined

  constructor(options: PeerStatusesOptions) {
    this.#options = options
    const { client, log, cluster, speaker, nodeName, neighbors } = options
    this.#objects = this.#stack.use(
      new Informer({
        ...{ client, resource: bgpPeerResource, clock: systemClock, mayBeAbsent: true },
        logger: warningOnce(log),
        labelSelector: selectorOf(bgpPeerLabels(nodeName)),
      }),
    )
    this.#peers = this.#stack.use(
      new BgpPeers({
        ...{ client, informer: this.#objects, nodeName, neighbors, clock: systemClock, log },
        random: Math.random,
        node: () => cluster.node(nodeName),
        statusOf: (neighbor) => speaker.statusOf(neighbor),
      }),
    )
  }

  start(signal: AbortSignal): void {
    this.#objects.start(signal)
    this.#objects.synced.then(
      () => this.#peers.askAll(),
      () => undefined,
    )
  }

  /** Says that something of a session may be different. */
  changed(neighbor: string, change: PeerChange): void {
    this.#peers.changed(neighbor, change)
  }

  /** Goes by the Node as it is now. To be called when neighbours have been told what there is. */
  follow(): void {
    this.#peers.begin()
    const { cluster, nodeName } = this.#options
    const node = cluster.node(nodeName)?.metadata.uid
    if (node !== this.#nodeBefore) this.#peers.askAll()
    this.#nodeBefore = node
  }

  /** Begins no more writes. */
  stop(): void {
    this.#peers.stop()
  }

  /** Writes that sessions have ended. It takes two seconds at most, and throws nothing. */
  farewell(): Promise<void> {
    return this.#peers.farewell()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}
