import type { Logger } from '@kube-ovn/log'
import type { Clock } from '@kube-ovn/time'
import { familyOfText, type AddressFamily } from '../address-family.ts'
import { decodeBfdPacket, encodeBfdPacket } from './packet.ts'
import { BfdSession, type BfdStatus, type BfdTimers } from './session.ts'
import { BfdSender, listenBfd } from './sockets.ts'

/** What came to the port of BFD, over all neighbours. */
export interface BfdCounters {
  received: number
  /** For another session than the one that there is. */
  dropped: number
  /** No packet of BFD. */
  invalid: number
  /** Of nobody who is watched. */
  unknown: number
  /** Sockets that the kernel refused. */
  errors: number
}

export interface BfdDependencies {
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  /** Own address towards a neighbour. @throws when there is none */
  readonly sourceFor: (neighbor: string) => string
  /** A neighbour can not be reached any more. */
  readonly lost: (neighbor: string, reason: string) => void
  /** A neighbour can be reached, for the first time or again. */
  readonly reached: (neighbor: string) => void
  /** The state of the session with a neighbour is another one. */
  readonly changed?: (neighbor: string) => void
  readonly netns?: string | undefined
  /** Whether neighbours are spoken with from their first packet on, and not before. */
  readonly isPassive?: boolean | undefined
}

/** What the kernel refuses is tried again; by then the other owner of the port, or the missing route, may be there or gone. */
const retryMs = 2000

/** Watches neighbours by BFD. */
export class BfdMonitor implements Disposable {
  readonly #timers: BfdTimers
  readonly #deps: BfdDependencies
  readonly #neighbors = new Map<string, Watched>()
  readonly #listeners = new Map<AddressFamily, Disposable>()
  readonly #counters: BfdCounters = { received: 0, dropped: 0, invalid: 0, unknown: 0, errors: 0 }
  readonly #told = new Set<string>()
  #retry: Disposable | undefined
  #isStopped = false

  constructor(neighbors: readonly string[], timers: BfdTimers, dependencies: BfdDependencies) {
    this.#timers = timers
    this.#deps = dependencies
    this.#set(neighbors)
  }

  get counters(): Readonly<BfdCounters> {
    return this.#counters
  }

  statusOf(neighbor: string): BfdStatus | undefined {
    return this.#neighbors.get(neighbor)?.status
  }

  /** Begins with those that are new, and leaves those alone that are not named any more. Sessions with all others go on. */
  async watch(neighbors: readonly string[]): Promise<void> {
    this.#set(neighbors)
    await this.start()
  }

  /** Begins. What the kernel refuses is logged, and tried again. */
  async start(): Promise<void> {
    this.#retry?.[Symbol.dispose]()
    const families = new Set([...this.#neighbors.keys()].map(familyOfText))
    for (const family of families) await this.#try(family, () => this.#listen(family))
    for (const [address, neighbor] of this.#neighbors) await this.#try(address, () => neighbor.open())
    const isWhole =
      [...families].every((family) => this.#listeners.has(family)) &&
      [...this.#neighbors.values()].every(({ isOpen }) => isOpen)
    if (!isWhole && !this.#isStopped)
      this.#retry = this.#deps.clock.setTimer(retryMs, () => void this.start())
  }

  /** Looks whether the own end of sessions is still the address that the node's routes say. */
  async follow(): Promise<void> {
    for (const [address, neighbor] of this.#neighbors) await this.#try(address, () => neighbor.open())
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
    this.#retry?.[Symbol.dispose]()
    for (const neighbor of this.#neighbors.values()) neighbor[Symbol.dispose]()
    for (const listener of this.#listeners.values()) listener[Symbol.dispose]()
  }

  #set(neighbors: readonly string[]): void {
    for (const [address, gone] of this.#neighbors) {
      if (neighbors.includes(address)) continue
      this.#neighbors.delete(address)
      gone[Symbol.dispose]()
    }
    for (const address of neighbors)
      if (!this.#neighbors.has(address))
        this.#neighbors.set(address, new Watched(address, this.#timers, this.#deps))
  }

  async #listen(family: AddressFamily): Promise<void> {
    if (this.#listeners.has(family)) return
    const listener = await listenBfd(family, this.#deps.netns, (from, bytes) => this.#take(from, bytes))
    // Another call may have been faster.
    if (this.#isStopped || this.#listeners.has(family)) listener[Symbol.dispose]()
    else this.#listeners.set(family, listener)
  }

  #take(from: string, bytes: Buffer): void {
    const packet = decodeBfdPacket(bytes)
    const neighbor = this.#neighbors.get(from)
    if (packet === undefined) this.#counters.invalid++
    else if (neighbor === undefined) this.#counters.unknown++
    else if (neighbor.take(packet)) this.#counters.received++
    else this.#counters.dropped++
  }

  async #try(what: string, action: () => Promise<void>): Promise<void> {
    if (this.#isStopped) return
    try {
      await action()
      this.#told.delete(what)
    } catch (error) {
      this.#counters.errors++
      if (!this.#told.has(what)) this.#deps.log.warn('BFD is not possible', { of: what, err: error })
      this.#told.add(what)
    }
  }
}

/** A neighbour and the session with it, from the own address that leads there. */
class Watched implements Disposable {
  readonly #address: string
  readonly #timers: BfdTimers
  readonly #deps: BfdDependencies
  readonly #log: Logger
  #source: string | undefined
  #sender: BfdSender | undefined
  #session: BfdSession | undefined
  #isStopped = false

  constructor(address: string, timers: BfdTimers, dependencies: BfdDependencies) {
    this.#address = address
    this.#timers = timers
    this.#deps = dependencies
    this.#log = dependencies.log.child({ peer: address })
  }

  get status(): BfdStatus | undefined {
    return this.#session?.status
  }

  get isOpen(): boolean {
    return this.#sender !== undefined
  }

  take(packet: Parameters<BfdSession['take']>[0]): boolean {
    return this.#session?.take(packet) ?? false
  }

  /** Opens what is sent by, again if the own address is another one now. @throws BgpSocketError by rejecting, and what `sourceFor` throws */
  async open(): Promise<void> {
    const { sourceFor, netns } = this.#deps
    const source = sourceFor(this.#address)
    if (source === this.#source) return
    this.#source = source
    try {
      const sender = await BfdSender.open(source, this.#address, netns)
      if (this.#isStopped || this.#source !== source) return sender[Symbol.dispose]()
      this.#sender?.[Symbol.dispose]()
      this.#sender = sender
    } catch (error) {
      this.#source = undefined
      throw error
    }
    this.#session ??= this.#begin()
  }

  [Symbol.dispose](): void {
    this.#isStopped = true
    this.#session?.stop()
    this.#sender?.[Symbol.dispose]()
  }

  #begin(): BfdSession {
    const { clock, random, lost, reached, changed, isPassive } = this.#deps
    const session = new BfdSession(
      { ...this.#timers, clock, random, isPassive, discriminator: 1 + Math.floor(random() * 0xffffffff) },
      {
        send: (packet) => this.#sender?.send(encodeBfdPacket(packet)),
        changed: () => changed?.(this.#address),
        up: () => {
          this.#log.info('BFD session is up')
          reached(this.#address)
        },
        lost: (reason) => {
          this.#log.warn('BFD session was lost', { reason })
          lost(this.#address, reason)
        },
      },
    )
    session.start()
    return session
  }
}
