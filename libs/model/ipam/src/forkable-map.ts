/** What can be a key: it is compared by value. */
type Primitive = string | number | bigint

interface Shard<K, V> {
  /** The map that may write here; every other one copies the shard first. */
  readonly writer: object
  readonly entries: Map<K, V>
}

const shardCount = 64

/**
 * A map that can be forked in constant time.
 *
 * Entries are spread over shards. After a fork both maps share all shards, and each copies a shard when it first
 * writes there, so a fork that writes little costs little however large the map is.
 */
export class ForkableMap<K extends Primitive, V> {
  #shards: (Shard<K, V> | undefined)[] = []
  #writer: object = {}
  #sharesArray = false

  /** An independent map with the same entries. */
  fork(): ForkableMap<K, V> {
    const twin = new ForkableMap<K, V>()
    twin.#shards = this.#shards
    twin.#sharesArray = true
    this.#sharesArray = true
    this.#writer = {}
    return twin
  }

  get(key: K): V | undefined {
    return this.#shards[shardOf(key)]?.entries.get(key)
  }

  has(key: K): boolean {
    return this.#shards[shardOf(key)]?.entries.has(key) ?? false
  }

  set(key: K, value: V): void {
    this.#writable(shardOf(key)).set(key, value)
  }

  delete(key: K): boolean {
    // Looks first, so that deleting what is not there copies nothing.
    if (!this.has(key)) return false
    return this.#writable(shardOf(key)).delete(key)
  }

  /** In no particular order. */
  *entries(): Generator<readonly [K, V], void, undefined> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard.entries
  }

  /** In no particular order. */
  *values(): Generator<V, void, undefined> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard.entries.values()
  }

  #writable(index: number): Map<K, V> {
    const shard = this.#shards[index]
    if (shard !== undefined && shard.writer === this.#writer) return shard.entries
    if (this.#sharesArray) {
      this.#shards = this.#shards.slice()
      this.#sharesArray = false
    }
    const entries = new Map(shard?.entries)
    this.#shards[index] = { writer: this.#writer, entries }
    return entries
  }
}

function shardOf(key: Primitive): number {
  if (typeof key === 'number') return key & (shardCount - 1)
  if (typeof key === 'bigint') return Number(BigInt.asUintN(6, key))
  let hash = 0
  for (let index = 0; index < key.length; index++) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0
  return (hash ^ (hash >>> 16)) & (shardCount - 1)
}
