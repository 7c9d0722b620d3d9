import { compareIps, type Ip } from './address.ts'
import { cidrOf, lastAddress, type Cidr } from './cidr.ts'

interface Entry<T> {
  readonly cidr: Cidr
  readonly value: T
}

/**
 * Finds values by prefixes that overlap a prefix, or that have an address.
 *
 * A look costs a binary search and a look for each length that prefixes have; there are few. Several may have one prefix.
 */
export class CidrIndex<T> {
  readonly #families = { 4: new FamilyIndex<T>(), 6: new FamilyIndex<T>() }

  add(cidr: Cidr, value: T): void {
    this.#families[cidr.family].add({ cidr, value })
  }

  /** Those that contain the prefix, the shortest first, then those that lie in it, by address. */
  overlapping(cidr: Cidr): Iterable<Entry<T>> {
    return this.#families[cidr.family].overlapping(cidr)
  }
}

/** Two prefixes overlap only if one contains the other. */
class FamilyIndex<T> {
  readonly #byLength = new Map<number, Map<Ip, Entry<T>[]>>()
  readonly #sorted: Entry<T>[] = []
  #lengths: readonly number[] = []

  add(entry: Entry<T>): void {
    const { network, prefixLength } = entry.cidr
    this.#sorted.splice(this.#firstFrom(network), 0, entry)
    const ofLength = this.#byLength.getOrInsertComputed(prefixLength, () => new Map())
    ofLength.getOrInsertComputed(network, () => []).push(entry)
    if (this.#lengths.length < this.#byLength.size)
      this.#lengths = [...this.#byLength.keys()].sort((a, b) => a - b)
  }

  *overlapping(cidr: Cidr): Iterable<Entry<T>> {
    for (const length of this.#lengths) {
      if (length > cidr.prefixLength) break
      yield* this.#byLength.get(length)?.get(cidrOf(cidr.network, length).network) ?? []
    }
    const last = lastAddress(cidr)
    for (let place = this.#firstFrom(cidr.network); place < this.#sorted.length; place++) {
      const entry = this.#sorted[place]
      if (entry === undefined || compareIps(entry.cidr.network, last) > 0) return
      if (entry.cidr.prefixLength > cidr.prefixLength) yield entry
    }
  }

  /** The place of the first entry that begins at the address or behind it. */
  #firstFrom(ip: Ip): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const network = this.#sorted[middle]?.cidr.network ?? ip
      if (compareIps(network, ip) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
