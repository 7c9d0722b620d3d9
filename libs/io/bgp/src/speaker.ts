import type { Refused } from '@kube-ovn/errors'
import { formatIp, tryParseIpv4, parseIp } from '@kube-ovn/ip'
import { familyOfText, type AddressFamily } from './address-family.ts'
import { BfdMonitor, type BfdCounters } from './bfd/monitor.ts'
import type { BfdStatus, BfdTimers } from './bfd/session.ts'
import { BgpConfigInvalidError, BgpSocketError } from './errors.ts'
import { isOwnAddress, sourceAddress } from './source-address.ts'
import { Peer, type PeerDependencies } from './peer.ts'
import type { OwnOptions, PeerOptions } from './peer-options.ts'
import type { PeerStatus } from './peer-status.ts'
import type { Route, Wish } from './route.ts'
import { problemOfListening } from './session-problem.ts'
import { identifierProblem } from './shared-identifier.ts'
import { listenTcp } from './tcp.ts'
import { checkPassword } from './tcp-options.ts'

export interface SpeakerOptions extends OwnOptions {
  readonly peers: readonly PeerOptions[]
  /** Where peers that dial find this speaker; 179 in the whole world. */
  readonly listenPort: number
  /** Watches peers by BFD; absent: their silence alone ends sessions. */
  readonly bfd?: BfdTimers | undefined
}

export interface SpeakerDependencies extends PeerDependencies {
  /** The own address towards a peer; default is what the kernel's routes say. @throws when there is none */
  readonly sourceFor?: (peer: string) => string
}

/** How a peer is doing, and what BFD says of it. */
export interface WatchedPeerStatus extends PeerStatus {
  readonly bfd: BfdStatus | undefined
  /** What is wrong with the identifier of the peer, while there is a session. */
  readonly identifierProblem: Refused | undefined
}

const largestAs = 4_294_967_295
/** Packets tell microseconds in four bytes. */
const longestBfdMs = 4_294_967
const listenAgainMs = 2000

/** Tells peers routes by BGP-4, and learns none: what they tell is read, counted and passed over. */
export class BgpSpeaker implements AsyncDisposable {
  readonly #options: SpeakerOptions
  readonly #deps: SpeakerDependencies
  readonly #peers: ReadonlyMap<string, Peer>
  readonly #bfd: BfdMonitor | undefined
  readonly #listeners = new AsyncDisposableStack()
  /** By peer, what has been told of its identifier. */
  readonly #toldOfIdentifiers = new Map<string, string>()
  /** By peer, the own address from which the kernel's routes led to it last. */
  readonly #sources = new Map<string, string>()
  /** Families whose peers can dial. */
  readonly #listening = new Set<AddressFamily>()
  #retry: Disposable | undefined
  #isStopped = false

  /** @throws BgpConfigInvalidError, InvalidIpError */
  constructor(options: SpeakerOptions, dependencies: SpeakerDependencies) {
    checkOptions(options)
    this.#options = options
    this.#deps = dependencies
    const ofPeers: PeerDependencies = {
      ...dependencies,
      changed: (peer, change) => {
        dependencies.changed?.(peer, change)
        if (change === 'session') this.#compareIdentifiers()
      },
    }
    this.#peers = new Map(options.peers.map((peer) => [peer.address, new Peer(peer, options, ofPeers)]))
    this.#bfd = options.bfd && this.#watch(options.bfd, dependencies)
  }

  /** Begins to dial, and to listen for those who dial. What the kernel refuses is logged, and tried again. */
  async start(): Promise<void> {
    for (const peer of this.#peers.values()) {
      this.#findSource(peer)
      peer.start()
    }
    await this.#listenForAll()
    await this.#bfd?.start()
  }

  get statuses(): readonly WatchedPeerStatus[] {
    return [...this.#peers.keys()].map((peer) => this.statusOf(peer)).filter((status) => status !== undefined)
  }

  /** How one peer is doing; `undefined` for one that there is not. */
  statusOf(peer: string): WatchedPeerStatus | undefined {
    const found = this.#peers.get(peer)
    if (found === undefined) return undefined
    return {
      ...found.status,
      bfd: this.#bfd?.statusOf(peer),
      identifierProblem: identifierProblem(found, this.#peers.values(), this.#options.identifier),
    }
  }

  /** What came by BFD; `undefined` without it. */
  get bfdCounters(): Readonly<BfdCounters> | undefined {
    return this.#bfd?.counters
  }

  /** Says that own addresses or routes may be others now. */
  async follow(): Promise<void> {
    for (const peer of this.#peers.values()) this.#move(peer)
    await this.#bfd?.follow()
  }

  /** Says which routes a peer is to know from now on. One that there is not is passed over. */
  announce(peer: string, routes: Iterable<Route>, wish?: Wish): void {
    this.#peers.get(peer)?.announce(routes, wish)
  }

  /** Ends all sessions; see `Peer.stop`. */
  async stop(options: { readonly keepsRoutes: boolean }): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#retry?.[Symbol.dispose]()
    // First, or else its end would look like that of the way to the peers.
    this.#bfd?.[Symbol.dispose]()
    for (const peer of this.#peers.values()) peer.stop(options)
    await this.#listeners.disposeAsync()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop({ keepsRoutes: false })
  }

  /** Tells of identifiers that several have, when they come and when they go. */
  #compareIdentifiers(): void {
    for (const peer of this.#peers.values()) {
      const problem = identifierProblem(peer, this.#peers.values(), this.#options.identifier)
      const { address } = peer
      const text = problem?.cure ?? ''
      if (text === (this.#toldOfIdentifiers.get(address) ?? '')) continue
      this.#toldOfIdentifiers.set(address, text)
      if (problem !== undefined)
        this.#deps.log.warn('identifier of a BGP peer is not its own', { peer: address, ...problem })
      this.#deps.changed?.(address, 'session')
    }
  }

  /**
   * Has a session whose own address is gone made anew from the one that there is, and a peer dialled to which there is a way again.
   *
   * Where there is no way at all, a session is left alone: it goes on when the way is back, and the hold time says when that is too late.
   */
  #move(peer: Peer): void {
    const { address, localAddress } = peer
    const before = this.#sources.get(address)
    const { source, hasWay } = this.#findSource(peer)
    if (hasWay && localAddress !== undefined && localAddress !== source && !this.#isOwn(localAddress))
      peer.move()
    else if (source !== undefined && source !== before) peer.reach()
  }

  #findSource({ address }: Peer): { readonly source: string | undefined; readonly hasWay: boolean } {
    try {
      const source = this.#sourceFor(address)
      this.#sources.set(address, source)
      return { source, hasWay: true }
    } catch (error) {
      this.#sources.delete(address)
      // A way from an address that is not allowed is one: what arrived at another arrives no more.
      return { source: undefined, hasWay: error instanceof BgpConfigInvalidError }
    }
  }

  #isOwn(address: string): boolean {
    try {
      return isOwnAddress(address, this.#options.netns)
    } catch (error) {
      this.#deps.log.warn('own addresses were not read', { err: error })
      return true
    }
  }

  #sourceFor(peer: string): string {
    return this.#deps.sourceFor?.(peer) ?? sourceAddress(peer, this.#options.netns)
  }

  #watch(timers: BfdTimers, { clock, log, random, changed }: SpeakerDependencies): BfdMonitor {
    const { netns } = this.#options
    const watched = this.#options.peers.filter(({ isWatched }) => isWatched !== false)
    return new BfdMonitor(
      watched.map(({ address }) => address),
      timers,
      {
        ...{ clock, log, random, netns },
        sourceFor: (peer) => this.#sourceFor(peer),
        lost: (peer) => this.#peers.get(peer)?.lose(),
        reached: (peer) => this.#peers.get(peer)?.reach(),
        changed: (peer) => changed?.(peer, 'session'),
      },
    )
  }

  /** Another program may have the port, and end. */
  async #listenForAll(): Promise<void> {
    const passive = this.#options.peers.filter(({ isPassive }) => isPassive)
    for (const [family, peers] of Map.groupBy(passive, ({ address }) => familyOfText(address))) {
      if (this.#isStopped || this.#listening.has(family)) continue
      try {
        await this.#listen(family, peers)
        this.#listening.add(family)
      } catch (error) {
        if (!(error instanceof BgpSocketError)) throw error
        const problem = problemOfListening(error, this.#options.listenPort)
        for (const { address } of peers) this.#peers.get(address)?.fail(error, problem)
        this.#retry ??= this.#deps.clock.setTimer(listenAgainMs, () => {
          this.#retry = undefined
          void this.#listenForAll()
        })
      }
    }
  }

  async #listen(family: AddressFamily, peers: readonly PeerOptions[]): Promise<void> {
    const passwords = peers.flatMap(({ address, password }): [string, string][] =>
      password === undefined ? [] : [[address, password]],
    )
    const listener = await listenTcp(
      {
        ...{ family, port: this.#options.listenPort, passwords: new Map(passwords) },
        netns: this.#options.netns,
        ttl: Math.max(...peers.map(({ ttl }) => ttl)),
      },
      (address, connection) => {
        const peer = this.#peers.get(address)
        if (peer?.options.isPassive === true) return peer.accept(connection)
        this.#deps.log.warn('connection of a stranger was refused', { peer: address })
        connection.destroy()
      },
    )
    if (this.#isStopped) await listener[Symbol.asyncDispose]()
    else this.#listeners.use(listener)
  }
}

function checkOptions({ as, identifier, holdTimeS, gracefulRestart, bfd, peers }: SpeakerOptions): void {
  checkNumber('cluster-as', as, 1, largestAs)
  if (holdTimeS !== 0) checkNumber('holdtime', holdTimeS, 3, 65_535)
  if ((tryParseIpv4(identifier) ?? 0) === 0)
    throw new BgpConfigInvalidError({
      field: 'router-id',
      value: identifier,
      cure: 'give an IPv4 address that no other router has',
    })
  if (gracefulRestart !== undefined) {
    checkNumber('graceful-restart-time', gracefulRestart.timeS, 1, 4095)
    checkNumber('graceful-restart-deferral-time', gracefulRestart.deferralS, 1, 18 * 3600)
  }
  if (bfd !== undefined) {
    checkNumber('bfd-min-tx', bfd.minTxMs, 1, longestBfdMs)
    checkNumber('bfd-min-rx', bfd.minRxMs, 1, longestBfdMs)
    checkNumber('bfd-detection-multiplier', bfd.multiplier, 1, 255)
  }
  const seen = new Set<string>()
  for (const { address, as, ttl, port, password, refused, holdTimeS: own } of peers) {
    if (refused !== undefined) continue
    // One address may be written in several ways.
    const canonical = formatIp(parseIp(address, 'neighbor-address'))
    checkNumber('neighbor-as', as, 1, largestAs)
    checkNumber('ebgp-multihop', ttl, 1, 255)
    if (own !== undefined && own !== 0) checkNumber('holdtime', own, 3, 65_535)
    checkNumber('port', port, 1, 65_535)
    if (password !== undefined) checkPassword(password)
    if (seen.has(canonical))
      throw new BgpConfigInvalidError({
        field: 'neighbor-address',
        value: address,
        cure: 'name each neighbour once',
      })
    seen.add(canonical)
  }
}

function checkNumber(field: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new BgpConfigInvalidError({
    field,
    value: String(value),
    cure: `give a whole number from ${least} to ${most}`,
  })
}
