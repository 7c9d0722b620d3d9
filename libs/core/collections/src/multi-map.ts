/** The values of a key that has several. */
class Several<V> extends Set<V> {}

/** A map from a key to a set of values; a key without values is not in it. */
export class MultiMap<K, V> {
  /** Most keys of most indexes have one value, so a set is made only for the second. */
  readonly #values = new Map<K, V | Several<V>>()

  /** Answers whether the pair is new. */
  add(key: K, value: V): boolean {
    const found = this.#values.get(key)
    if (found instanceof Several) {
      if (found.has(value)) return false
      found.add(value)
      return true
    }
    if (found === undefined && !this.#values.has(key)) {
      this.#values.set(key, value)
      return true
    }
    if (Object.is(found, value)) return false
    this.#values.set(key, new Several([found as V, value]))
    return true
  }

  /** Answers whether the pair was there. */
  delete(key: K, value: V): boolean {
    const found = this.#values.get(key)
    if (found instanceof Several) {
      if (!found.delete(value)) return false
      if (found.size === 1) for (const last of found) this.#values.set(key, last)
      return true
    }
    return this.has(key, value) && this.#values.delete(key)
  }

  has(key: K, value: V): boolean {
    const found = this.#values.get(key)
    if (found instanceof Several) return found.has(value)
    return Object.is(found, value) && this.#values.has(key)
  }

  /** Whether a key has any value. */
  hasKey(key: K): boolean {
    return this.#values.has(key)
  }

  /** Values of a key in order of insertion, until the next change. */
  get(key: K): ReadonlySet<V> {
    const found = this.#values.get(key)
    if (found instanceof Several) return found
    return found !== undefined || this.#values.has(key) ? new Set([found as V]) : EMPTY
  }

  keys(): MapIterator<K> {
    return this.#values.keys()
  }

  /** Number of keys that have a value. */
  get size(): number {
    return this.#values.size
  }

  clear(): void {
    this.#values.clear()
  }
}

const EMPTY: ReadonlySet<never> = new Set()
