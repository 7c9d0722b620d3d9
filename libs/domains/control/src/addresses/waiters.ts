import { MultiMap } from '@kube-ovn/collections'
import type { Ip } from '@kube-ovn/ip'
import type { Lease, Owner } from '@kube-ovn/ipam'

/** Where somebody waits whom no address can help: what he asks for is in no subnet that there is. */
export const anyOpening = ''

/** Where somebody waits who asks for a MAC address. */
export function placeOfMac({ subnet, mac }: { readonly subnet: string; readonly mac: string }): string {
  return `${subnet}/${mac}`
}

/** What somebody had in a subnet and has no more. */
export type Given = Partial<Pick<Lease, 'v4' | 'v6' | 'mac'>>

/**
 * Whom an address, or a MAC address, can help: anybody, if nobody has it; whoever has it alone, as a waiter, for another NIC of his;
 * or nobody.
 */
export type Helped = 'anybody' | 'nobody' | Owner

interface Waiter {
  /** Names of subnets, for addresses there; {@link placeOfMac}; {@link anyOpening}. */
  readonly places: ReadonlySet<string>
  /** What was free when it was tried last: the number of the last event by then. */
  readonly triedAt: number
}

/** What somebody gave up in a subnet, as far as it concerns a place. */
interface Turn {
  /** The number of that event. */
  readonly event: number
  readonly subnet: string
  readonly given: readonly (Ip | string)[]
}

/**
 * Who waits for addresses, by subnet, and for MAC addresses.
 *
 * When an address becomes free one of those who wait in its subnet has a turn. As long as it is free afterwards it is the turn of the
 * next, until somebody has taken it or all were tried. So nobody waits for what is free, and for each address one key is looked at.
 * MAC addresses likewise, but that who waits for one is concerned by no other. What one who waits has himself, and nobody else any
 * more, is the turn of him alone.
 */
export class Waiters {
  readonly #call: (key: string) => void
  readonly #helped: (subnet: string, one: Ip | string) => Helped
  readonly #waiters = new Map<string, Waiter>()
  /** By place, those who have no turn there. Who was tried longest ago stands first, so after who was tried all were. */
  readonly #idle = new MultiMap<string, string>()
  /** Turns of keys, by place: they pass on what they leave. */
  readonly #turns = new Map<string, Map<string, Turn>>()
  #events = 0

  /** `call` has a key looked at soon; `helped` is about an address, or a MAC address, which is text. */
  constructor(call: (key: string) => void, helped: (subnet: string, one: Ip | string) => Helped) {
    this.#call = call
    this.#helped = helped
  }

  /** A key could not be given what it needs, and may be when something comes free, or opens, at one of these places. */
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

  /** Somebody gave up what he had in a subnet. */
  freed(subnet: string, { v4, v6, mac }: Given): void {
    const event = ++this.#events
    const addresses = [v4, v6].filter((address) => address !== undefined)
    this.#giveTurn(subnet, { event, subnet, given: addresses })
    if (mac !== undefined) this.#giveTurn(placeOfMac({ subnet, mac }), { event, subnet, given: [mac] })
  }

  /** A subnet has come into effect, or gives other addresses than before: any number may be free. */
  opened(subnet: string): void {
    this.#events++
    for (const place of [subnet, anyOpening]) for (const key of this.#idle.get(place)) this.#call(key)
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
      for (const [place, turn] of turns) this.#giveTurn(place, turn)
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

  #giveTurn(place: string, { event, subnet, given }: Turn): void {
    const [first] = this.#idle.get(place)
    if (first === undefined || !this.#isToTry(first, event)) return
    const helped = new Map(given.map((one) => [one, this.#helped(subnet, one)]))
    const key = [...helped.values()]
      .map((whom) => (whom === 'anybody' ? first : whom))
      .find((whom) => this.#idle.has(place, whom) && this.#isToTry(whom, event))
    if (key === undefined) return
    this.#idle.delete(place, key)
    const left = given.filter((one) => helped.get(one) !== 'nobody')
    const turns = this.#turns.get(key) ?? new Map<string, Turn>()
    this.#turns.set(key, turns.set(place, { event, subnet, given: left }))
    this.#call(key)
  }

  /** Whether a key was not tried since something was given up. */
  #isToTry(key: string, event: number): boolean {
    return (this.#waiters.get(key)?.triedAt ?? event) < event
  }

  #hasTurn(key: string, place: string): boolean {
    return this.#turns.get(key)?.has(place) === true
  }
}
