import type { PacketMarks } from './control-message.ts'

/** What a listener saw of a request. */
export interface Sighting extends PacketMarks {
  /** Where the request came from, as it arrived. */
  readonly source: string
  readonly sourcePort: number
}

/** Where a listener writes down what it sees. */
export type SightingRecorder = Pick<Sightings, 'record'>

/** Is what all listeners of a run saw, by the token that each request carries. */
export class Sightings {
  readonly #seen = new Map<string, Sighting>()
  readonly #waiting = new Map<string, (sighting: Sighting) => void>()

  record(key: string, sighting: Sighting): void {
    this.#seen.set(key, sighting)
    this.#waiting.get(key)?.(sighting)
  }

  /** Takes out what was seen of a request. */
  take(key: string): Sighting | undefined {
    const sighting = this.#seen.get(key)
    this.#seen.delete(key)
    return sighting
  }

  /** Calls back when a request is seen; the caller ends that with `forget`. */
  notify(key: string, listener: (sighting: Sighting) => void): void {
    this.#waiting.set(key, listener)
  }

  forget(key: string): void {
    this.#waiting.delete(key)
    this.#seen.delete(key)
  }
}

/** The key of a request that one listener sees. */
export function keyOf(token: number): string {
  return String(token)
}

/** The key of a packet to a group, which every member sees for itself. */
export function keyOfMember(token: number, member: string): string {
  return `${token} ${member}`
}
