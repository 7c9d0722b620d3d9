/** A map from a key to a set of values; a key without values is not in it. */
export class MultiMap<K, V> {
  readonly #sets = new Map<K, Set<V>>()

  /** Answers whether the pair is new. */
  add(key: K, value: V): boolean {
    const set = this.#sets.get(key)
    if (set === undefined) {
      this.#sets.set(key, new Set([value]))
      return true
    }
    if (set.has(value)) return false
    set.add(value)
    return true
  }

  /** Answers whether the pair was there. */
  delete(key: K, value: V): boolean {
    const set = this.#sets.get(key)
    if (set === undefined || !set.delete(value)) return false
    if (set.size === 0) this.#sets.delete(key)
    return true
  }

  has(key: K, value: V): boolean {
    return this.#sets.get(key)?.has(value) === true
  }

  /** Values of a key in order of insertion. The set changes as the map does. */
  get(key: K): ReadonlySet<V> {
    return this.#sets.get(key) ?? EMPTY
  }

  keys(): MapIterator<K> {
    return this.#sets.keys()
  }

  /** Number of keys that have a value. */
  get size(): number {
    return this.#sets.size
  }

  clear(): void {
    this.#sets.clear()
  }
}

const EMPTY: ReadonlySet<never> = new Set()
