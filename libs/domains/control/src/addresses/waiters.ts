import { MultiMap } from '@kube-ovn/collections'
import type { Ip } from '@kube-ovn/ip'

/** Where somebody waits who can not tell which subnet may help him. */
export const anywhere = ''

interface Waiter {
  /** Names of subnets, or {@link anywhere}. */
  readonly places: ReadonlySet<string>
  /** What was free when it was tried last: the number of the last event by then. */
  readonly triedAt: number
}

/** What somebody gave up in a subnet. */
interface Turn {
  /** The number of that event. */
  readonly event: number
  readonly addresses: readonly Ip[]
}

/**
 * Who waits for addresses, by subnet.
 *
 * When an address becomes free one of those who wait in its subnet has a turn. As long as it is free afterwards it is the turn of the
 * next, until somebody has taken it or all were tried. So nobody waits for what is free, and for each address one key is looked at.
 */
export class Waiters {
  readonly #call: (key: string) => void
  readonly #isFree: (subnet: string, address: Ip) => boolean
  readonly #waiters = new Map<string, Waiter>()
  /** By place, those who have no turn there. Who was tried longest ago stands first, so after who was tried all were. */
  readonly #idle = new MultiMap<string, string>()
  /** Turns of keys, by names of subnets: they pass on what they leave. */
  readonly #turns = new Map<string, Map<string, Turn>>()
  #events = 0

  /** `call` has a key looked at soon. */
  constructor(call: (key: string) => void, isFree: (subnet: string, address: Ip) => boolean) {
    this.#call = call
    this.#isFree = isFree
  }

  /** A key could not be given what it needs, and may be by one of these subnets. */
  wait(key: string, places: Iterable<string>): void {
    const waiter = { places: new Set(places), triedAt: this.#events }
    this.end(key)
    this.#waiters.set(key, waiter)
    for (const place of waiter.places) if (!this.#hasTurn(key, place)) this.#idle.add(place, key)
  }

  /** A key has what it needs, or needs nothing any more. */
  end(key: string): void {
    for (const place of this.#waiters.get(key)?.places ?? []) this.#idle.delete(place, key)
    this.#waiters.delete(key)
  }

  /** Somebody gave up addresses that he had in a subnet. */
  freed(subnet: string, addresses: readonly Ip[]): void {
    this.#giveTurn(subnet, { event: ++this.#events, addresses })
    for (const key of this.#idle.get(anywhere)) this.#call(key)
  }

  /** A subnet has come into effect, or gives other addresses than before: any number may be free. */
  opened(subnet: string): void {
    this.#events++
    for (const place of [subnet, anywhere]) for (const key of this.#idle.get(place)) this.#call(key)
  }

  keys(): Iterable<string> {
    return this.#waiters.keys()
  }

  /** Looks at a key. If it has turns, they go on to others as far as it leaves what they are about. */
  look<T>(key: string, look: () => T): T {
    const turns = this.#turns.get(key)
    if (turns === undefined) return look()
    this.#turns.delete(key)
    try {
      return look()
    } finally {
      const waiter = this.#waiters.get(key)
      // It failed before it could say for what it waits now.
      if (waiter !== undefined) this.wait(key, waiter.places)
      for (const [subnet, turn] of turns) this.#giveTurn(subnet, turn)
    }
  }

  /** A copy for plans that are not carried out. */
  fork(...told: ConstructorParameters<typeof Waiters>): Waiters {
    const fork = new Waiters(...told)
    for (const [key, waiter] of this.#waiters) fork.#waiters.set(key, waiter)
    for (const place of this.#idle.keys()) for (const key of this.#idle.get(place)) fork.#idle.add(place, key)
    for (const [key, turns] of this.#turns) fork.#turns.set(key, new Map(turns))
    fork.#events = this.#events
    return fork
  }

  #giveTurn(subnet: string, { event, addresses }: Turn): void {
    const [key] = this.#idle.get(subnet)
    if (key === undefined || (this.#waiters.get(key)?.triedAt ?? event) >= event) return
    const left = addresses.filter((address) => this.#isFree(subnet, address))
    if (left.length === 0) return
    this.#idle.delete(subnet, key)
    const turns = this.#turns.get(key) ?? new Map<string, Turn>()
    this.#turns.set(key, turns.set(subnet, { event, addresses: left }))
    this.#call(key)
  }

  #hasTurn(key: string, place: string): boolean {
    return this.#turns.get(key)?.has(place) === true
  }
}
