import { familyOfText, type AddressFamily } from './address-family.ts'
import type { UpdateMessage } from './update-message.ts'

/** How many prefixes of each family a peer has told. */
export interface HeardCounts {
  readonly ipv4: number
  readonly ipv6: number
  /** There are more than are kept in mind: the numbers are those of which is known. */
  readonly isBeyondBound: boolean
}

/** A megabyte for a peer: who tells the whole Internet is not held in memory for a number. */
const most = 10_000

/** Which prefixes a peer has told, for their number alone: what they lead to is used by nobody. */
export class HeardPrefixes {
  readonly #prefixes = { ipv4: new Set<string>(), ipv6: new Set<string>() } as const
  readonly #most: number
  #isBeyondBound = false

  /** @param mostPrefixes of both families together */
  constructor(mostPrefixes = most) {
    this.#most = mostPrefixes
  }

  get counts(): HeardCounts {
    const { ipv4, ipv6 } = this.#prefixes
    return { ipv4: ipv4.size, ipv6: ipv6.size, isBeyondBound: this.#isBeyondBound }
  }

  /** Takes what a message announces and withdraws; of families that were not agreed on nothing counts. */
  take(update: UpdateMessage, families: readonly AddressFamily[]): void {
    const { withdrawn, unreachable, announced, reachable, path, malformed } = update
    const told = [...announced, ...(reachable?.prefixes ?? [])]
    // Without a path, or with a malformed one, routes count as withdrawn (RFC 7606).
    const isTold = path !== undefined && malformed.length === 0
    const gone = [...withdrawn, ...(unreachable?.prefixes ?? []), ...(isTold ? [] : told)]
    for (const prefix of gone) this.#prefixes[familyOfText(prefix)].delete(prefix)
    if (!isTold) return
    for (const prefix of told) {
      const family = familyOfText(prefix)
      if (families.includes(family)) this.#add(this.#prefixes[family], prefix)
    }
  }

  /** Forgets all: the session that they came by is over. */
  clear(): void {
    this.#prefixes.ipv4.clear()
    this.#prefixes.ipv6.clear()
    this.#isBeyondBound = false
  }

  #add(prefixes: Set<string>, prefix: string): void {
    const { ipv4, ipv6 } = this.#prefixes
    if (prefixes.has(prefix)) return
    if (ipv4.size + ipv6.size >= this.#most) this.#isBeyondBound = true
    else prefixes.add(prefix)
  }
}
