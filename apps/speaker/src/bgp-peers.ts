import { bgpPeerLabels } from '@kube-ovn/annotations'
import type { PeerChange, WatchedPeerStatus } from '@kube-ovn/bgp'
import { formatIp, parseIp } from '@kube-ovn/ip'
import {
  mergePatch,
  type Informer,
  type MergeFragment,
  type Node,
  type ObjectRef,
  type PatchType,
  type Removal,
  type RemoveOptions,
  type Resource,
  type WriteOptions,
} from '@kube-ovn/kube'
import { bgpPeerResource, type BgpPeer } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { backoffDelayMs, type Backoff, type Clock } from '@kube-ovn/time'
import { bgpPeerName, desiredStatus, hasOutcome, isNews } from './bgp-peer-status.ts'

/** The requests that are made: a part of `KubeClient`. */
export interface BgpPeerClient {
  create(resource: Resource<BgpPeer>, object: BgpPeer, options: WriteOptions): Promise<BgpPeer>
  patch(
    resource: Resource<BgpPeer>,
    ref: ObjectRef,
    type: PatchType,
    patch: unknown,
    options: WriteOptions,
  ): Promise<BgpPeer>
  remove(resource: Resource<BgpPeer>, ref: ObjectRef, options: RemoveOptions): Promise<Removal<BgpPeer>>
}

export interface BgpPeersOptions {
  readonly client: BgpPeerClient
  /** Of the objects of this node. */
  readonly informer: Pick<Informer<BgpPeer>, 'store' | 'health' | 'onChange' | 'observe' | 'observeRemoval'>
  readonly nodeName: string
  /** The own Node; `undefined` while there is none. */
  readonly node: () => Node | undefined
  /** Addresses of routers. */
  readonly neighbors: readonly string[]
  readonly statusOf: (neighbor: string) => WatchedPeerStatus | undefined
  readonly clock: Clock
  readonly log: Logger
  /** In [0, 1), as Math.random. */
  readonly random: () => number
}

/** What comes together is written together. */
const gatherMs = 20
/** Numbers of prefixes are written at most so often. */
const countsMs = 10_000
/** Whatever changes, of one session no more is written in {@link countsMs}. */
const mostWrites = 5
/** What is said at the end has so long; nobody waits longer for an API server. */
const farewellMs = 2_000
const retry: Backoff = { initialMs: 10_000, maxMs: 300_000, factor: 2, jitter: 0.25 }

/** A write that is due. */
interface Plan {
  readonly isNews: boolean
  readonly act: (signal: AbortSignal) => Promise<void>
}

/** How something is done for one object at a time. */
interface KeeperOptions {
  readonly plan: () => Plan | undefined
  readonly failed: (error: unknown) => void
  readonly done: () => void
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: () => number
}

/**
 * Keeps the BgpPeers of a node: one for each of its sessions, with the session's status.
 *
 * It is told of changes, and makes its requests on its own: whoever tells waits for nothing, and what fails is tried again later and
 * logged once.
 */
export class BgpPeers implements Disposable {
  readonly #options: BgpPeersOptions
  readonly #neighbors: ReadonlyMap<string, string>
  readonly #names: ReadonlyMap<string, string>
  readonly #keepers = new Map<string, Keeper>()
  /** Objects that were created, and that the informer has not seen yet. */
  readonly #created = new Map<string, BgpPeer>()
  readonly #stack = new DisposableStack()
  readonly #abort = new AbortController()
  #hasBegun = false
  #isStopped = false
  #isTold = false

  constructor(options: BgpPeersOptions) {
    this.#options = options
    const { neighbors, nodeName, informer } = options
    const named = neighbors.map((neighbor): [string, string] => [bgpPeerName(nodeName, neighbor), neighbor])
    this.#neighbors = new Map(named)
    this.#names = new Map(named.map(([name, neighbor]) => [neighbor, name]))
    this.#stack.use(
      informer.onChange(({ key, new: object }) => {
        this.#created.delete(key)
        if (object !== undefined || this.#neighbors.has(key)) return this.#keeper(key).ask()
        this.#keepers.get(key)?.stop()
        this.#keepers.delete(key)
      }),
    )
  }

  /** Begins to write. To be called when neighbours have been told what there is, so that no status tells of less. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.askAll()
  }

  /** Says that something of a session may be different. */
  changed(neighbor: string, change: PeerChange): void {
    const name = this.#names.get(neighbor)
    if (name !== undefined) this.#keeper(name).ask(change === 'routes')
  }

  /** Says that all may be different: the Node, or what is known of objects. */
  askAll(): void {
    for (const name of new Set([...this.#neighbors.keys(), ...this.#keepers.keys()])) this.#keeper(name).ask()
  }

  /** Begins no more writes. */
  stop(): void {
    this.#isStopped = true
    for (const keeper of this.#keepers.values()) keeper.stop()
  }

  /** Writes that sessions have ended, as their statuses say now. It takes two seconds at most, and throws nothing. */
  async farewell(): Promise<void> {
    this.stop()
    if (!this.#hasBegun) return
    using _patience = this.#options.clock.setTimer(farewellMs, () => this.#abort.abort())
    await Promise.all([...this.#neighbors.keys()].map((name) => this.#keeper(name).finish()))
  }

  [Symbol.dispose](): void {
    this.stop()
    this.#abort.abort()
    this.#stack.dispose()
  }

  #keeper(name: string): Keeper {
    const known = this.#keepers.get(name)
    if (known !== undefined) return known
    const { clock, random, log } = this.#options
    const keeper = new Keeper({
      ...{ clock, random, signal: this.#abort.signal },
      plan: () => this.#plan(name),
      done: () => {
        this.#isTold = false
      },
      failed: (err) => {
        if (this.#isTold) return
        this.#isTold = true
        const cure =
          'see whether bgppeers.kubeovn.io is defined, and what the account kube-ovn-speaker may do'
        log.warn('status of BGP sessions was not written', { name, err, cure })
      },
    })
    if (this.#isStopped) keeper.stop()
    this.#keepers.set(name, keeper)
    return keeper
  }

  #plan(name: string): Plan | undefined {
    const { informer, node, statusOf, nodeName } = this.#options
    if (!this.#hasBegun || !informer.health.isSynced) return undefined
    const object = informer.store.get(name) ?? this.#created.get(name)
    const neighbor = this.#neighbors.get(name)
    if (object?.metadata.deletionTimestamp !== undefined) return undefined
    if (neighbor === undefined) return object?.spec?.node === nodeName ? this.#removal(object) : undefined
    const owner = node()
    const peer = statusOf(neighbor)
    if (owner === undefined || peer === undefined) return undefined
    if (object === undefined)
      return this.#isStopped ? undefined : this.#creation(name, formatIp(parseIp(neighbor)), owner)
    if (!isOwned(object, owner)) return this.#isStopped ? undefined : this.#removal(object)
    const { clock } = this.#options
    const context = { nowMs: clock.now(), isStopped: this.#isStopped }
    const status = mergePatch(object.status ?? {}, desiredStatus(peer, object, context))
    if (status === undefined) return undefined
    const isFirst = object.status?.state === undefined
    return {
      isNews: isFirst || (hasOutcome(peer) && isNews(status)),
      act: (signal) => this.#write(name, status, signal),
    }
  }

  #creation(name: string, neighbor: string, node: Node): Plan {
    const { client, nodeName } = this.#options
    const { name: owner, uid = '' } = node.metadata
    const object: BgpPeer = {
      metadata: {
        name,
        labels: bgpPeerLabels(nodeName),
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: owner, uid }],
      },
      spec: { node: nodeName, neighbor },
    }
    return {
      isNews: true,
      act: async (signal) => {
        this.#created.set(name, await client.create(bgpPeerResource, object, { signal }))
      },
    }
  }

  #removal({ metadata: { name, uid = '' } }: BgpPeer): Plan {
    const { client, informer } = this.#options
    return {
      isNews: true,
      act: async (signal) => {
        const removal = await client.remove(bgpPeerResource, { name }, { preconditions: { uid }, signal })
        this.#created.delete(name)
        informer.observeRemoval({ name }, uid, removal)
      },
    }
  }

  async #write(name: string, status: MergeFragment, signal: AbortSignal): Promise<void> {
    const { client, informer } = this.#options
    const answer = await client.patch(
      bgpPeerResource,
      { name },
      'application/merge-patch+json',
      { status },
      { subresource: 'status', signal },
    )
    if (this.#created.has(name)) this.#created.set(name, answer)
    informer.observe(answer)
  }
}

/** An object of a Node that was deleted goes with it, whatever Node has its name now. */
function isOwned({ metadata: { ownerReferences = [] } }: BgpPeer, { metadata: { uid } }: Node): boolean {
  return ownerReferences.some((reference) => reference.uid === uid)
}

/** Does what is due for one object, one request at a time, and not too often. */
class Keeper {
  readonly #options: KeeperOptions
  #timer: { readonly dueMs: number; readonly timer: Disposable } | undefined
  #running: Promise<void> | undefined
  #isStopped = false
  #failures = 0
  #retryMs = 0
  /** When numbers were written last, or could have been. */
  #lastMs: number
  /** Times of the last writes, the oldest first. */
  #writes: readonly number[] = []

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#lastMs = options.clock.monotonic()
  }

  /** Looks soon whether something is due. @param isPatient whether it is time when numbers may be written again */
  ask(isPatient = false): void {
    const soonMs = this.#options.clock.monotonic() + gatherMs
    this.#wake(isPatient ? Math.max(soonMs, this.#lastMs + countsMs) : soonMs)
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.timer[Symbol.dispose]()
    this.#timer = undefined
  }

  /** Does at once what is due, after what is under way. */
  async finish(): Promise<void> {
    await this.#running
    const plan = this.#find()
    if (plan !== undefined) await this.#do(plan)
  }

  #find(): Plan | undefined {
    try {
      return this.#options.plan()
    } catch (error) {
      // Sessions are worth more than to be ended by a mistake about how they are shown.
      this.#options.failed(error)
      return undefined
    }
  }

  #wake(dueMs: number): void {
    if (this.#isStopped || (this.#timer !== undefined && this.#timer.dueMs <= dueMs)) return
    this.#timer?.timer[Symbol.dispose]()
    const { clock } = this.#options
    const timer = clock.setTimer(Math.max(0, dueMs - clock.monotonic()), () => {
      this.#timer = undefined
      this.#look()
    })
    this.#timer = { dueMs, timer }
  }

  #look(): void {
    // Who is at work looks again afterwards.
    if (this.#isStopped || this.#running !== undefined) return
    const { clock } = this.#options
    const plan = this.#find()
    if (plan === undefined) return
    const dueMs = this.#dueMs(plan)
    if (dueMs > clock.monotonic()) return this.#wake(dueMs)
    this.#running = this.#do(plan).finally(() => {
      this.#running = undefined
      this.#look()
    })
  }

  #dueMs({ isNews }: Plan): number {
    const [oldest = 0] = this.#writes
    const paceMs = this.#writes.length < mostWrites ? 0 : oldest + countsMs
    return Math.max(this.#retryMs, isNews ? paceMs : this.#lastMs + countsMs)
  }

  async #do(plan: Plan): Promise<void> {
    const { clock, random, signal, done, failed } = this.#options
    this.#lastMs = clock.monotonic()
    this.#writes = [...this.#writes, this.#lastMs].slice(-mostWrites)
    try {
      await plan.act(signal)
      this.#failures = 0
      done()
    } catch (error) {
      this.#retryMs = clock.monotonic() + backoffDelayMs(retry, this.#failures++, random)
      if (!signal.aborted) failed(error)
    }
  }
}
