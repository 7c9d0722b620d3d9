/** What can be a key: it is compared by value. */
type Key = string | number | bigint

/**
 * A part of the table, probed linearly.
 *
 * `hashes` has 0 where `values` has nothing, and otherwise what the key of the value hashes to.
 */
interface Shard<V> {
  /** The index that may write here; every other one copies the shard first. */
  readonly writer: object
  hashes: Int32Array
  values: (V | undefined)[]
  size: number
}

/** Average number of values in a shard from which on there are twice as many shards. */
const fullShard = 256

const smallestCapacity = 8

/**
 * Finds objects by a key that they have in themselves; several may have the same.
 *
 * It keeps no keys and no entries, but 12 bytes for each of its slots, of which at least half are in use when it grows. It can
 * be forked in constant time: both share all shards, and each copies a shard when it first writes there.
 */
export class HashIndex<K extends Key, V extends object> {
  readonly #keyOf: (value: V) => K | undefined
  readonly #hash: (key: K) => number
  #shards: Shard<V>[]
  #size = 0
  #writer: object = {}
  #sharesArray = false
  // One key is looked for, then added or removed: its hash is needed again at once.
  #lastKey: K | undefined
  #lastHash = 0

  /**
   * @param keyOf what a value is found by; it is asked only for values that have one
   * @param hash any 32 bits; 0 is replaced
   */
  constructor(keyOf: (value: V) => K | undefined, hash: (key: K) => number) {
    this.#keyOf = keyOf
    this.#hash = hash
    this.#shards = [emptyShard(this.#writer)]
  }

  /** An independent index of the same values. */
  fork(): HashIndex<K, V> {
    const twin = new HashIndex(this.#keyOf, this.#hash)
    twin.#shards = this.#shards
    twin.#size = this.#size
    twin.#sharesArray = true
    this.#sharesArray = true
    this.#writer = {}
    return twin
  }

  get size(): number {
    return this.#size
  }

  /** One value with the key; which one, when there are several, is not said. */
  get(key: K): V | undefined {
    const hash = this.#hashOf(key)
    const { hashes, values } = this.#shardOf(hash)
    const capacity = hashes.length
    for (let at = home(hash, capacity); hashes[at] !== 0; at = at + 1 === capacity ? 0 : at + 1) {
      if (hashes[at] !== hash) continue
      const value = values[at]
      if (value !== undefined && this.#keyOf(value) === key) return value
    }
    return undefined
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  /** All values with the key, in no particular order. */
  all(key: K): readonly V[] {
    const found: V[] = []
    const hash = this.#hashOf(key)
    const { hashes, values } = this.#shardOf(hash)
    const capacity = hashes.length
    for (let at = home(hash, capacity); hashes[at] !== 0; at = at + 1 === capacity ? 0 : at + 1) {
      const value = values[at]
      if (hashes[at] === hash && value !== undefined && this.#keyOf(value) === key) found.push(value)
    }
    return found
  }

  /** Adds a value that is not in it yet; without a key it stays out. */
  add(value: V): void {
    const key = this.#keyOf(value)
    if (key === undefined) return
    if (this.#size >= this.#shards.length * fullShard) this.#doubleShards()
    const hash = this.#hashOf(key)
    const shard = this.#writable(hash & (this.#shards.length - 1))
    if (shard.size * 10 >= shard.hashes.length * 7) resize(shard)
    insert(shard, hash, value)
    this.#size++
  }

  /** Removes this very value; false when it is not in it. */
  remove(value: V): boolean {
    const key = this.#keyOf(value)
    if (key === undefined) return false
    const hash = this.#hashOf(key)
    const index = hash & (this.#shards.length - 1)
    const at = find(this.#shardOf(hash), hash, value)
    // Looks first, so that removing what is not there copies nothing.
    if (at < 0) return false
    const shard = this.#writable(index)
    closeGap(shard, at)
    shard.size--
    this.#size--
    if (shard.size * 4 < shard.hashes.length && shard.hashes.length > 2 * smallestCapacity) resize(shard)
    return true
  }

  /** In no particular order; the index must not change meanwhile. */
  *values(): Generator<V, void, undefined> {
    for (const { values } of this.#shards) {
      for (const value of values) if (value !== undefined) yield value
    }
  }

  #hashOf(key: K): number {
    if (key !== this.#lastKey) {
      this.#lastHash = this.#hash(key) || 1
      this.#lastKey = key
    }
    return this.#lastHash
  }

  #shardOf(hash: number): Shard<V> {
    const shard = this.#shards[hash & (this.#shards.length - 1)]
    if (shard === undefined) throw new RangeError('a mask of the number of shards names none of them')
    return shard
  }

  #writable(index: number): Shard<V> {
    const shard = this.#shardOf(index)
    if (shard.writer === this.#writer) return shard
    if (this.#sharesArray) {
      this.#shards = this.#shards.slice()
      this.#sharesArray = false
    }
    const { hashes, values, size } = shard
    const copy = { writer: this.#writer, hashes: hashes.slice(), values: values.slice(), size }
    this.#shards[index] = copy
    return copy
  }

  #doubleShards(): void {
    const before = this.#shards
    const after: Shard<V>[] = []
    for (const half of [0, before.length]) {
      for (const [index, shard] of before.entries()) {
        const kept: [number, V][] = []
        shard.values.forEach((value, at) => {
          const hash = shard.hashes[at] ?? 0
          if (value !== undefined && (hash & (2 * before.length - 1)) === index + half)
            kept.push([hash, value])
        })
        after.push(shardWith(this.#writer, kept))
      }
    }
    this.#shards = after
    this.#sharesArray = false
  }
}

/** Spreads the characters of a text over 32 bits (FNV-1a, then the finaliser of MurmurHash3). */
export function hashText(text: string): number {
  let hash = 0x811c_9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193)
  }
  return mix(hash)
}

export function hashNumber(value: number): number {
  return mix(value | 0)
}

/** Two /64 that are used alike differ in the upper half only, so it counts too. */
export function hashBigint(value: bigint): number {
  const low = BigInt.asUintN(64, value)
  const lower = Number(BigInt.asUintN(32, low))
  const upper = Number(BigInt.asUintN(32, low >> 32n)) ^ Number(BigInt.asUintN(32, value >> 64n))
  return mix(lower ^ Math.imul(upper, 0x9e37_79b1))
}

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return mixed ^ (mixed >>> 16)
}

/** Where to look first. Takes the upper bits, as the lower ones have chosen the shard. */
function home(hash: number, capacity: number): number {
  return Math.floor(((hash >>> 0) / 0x1_0000_0000) * capacity)
}

function emptyShard<V>(writer: object): Shard<V> {
  return shardOfCapacity(writer, smallestCapacity)
}

function shardOfCapacity<V>(writer: object, capacity: number): Shard<V> {
  const values = Array.from<V | undefined>({ length: capacity })
  return { writer, hashes: new Int32Array(capacity), values, size: 0 }
}

function shardWith<V>(writer: object, entries: readonly (readonly [number, V])[]): Shard<V> {
  const capacity = Math.max(smallestCapacity, Math.ceil(entries.length * 1.6))
  const shard = shardOfCapacity<V>(writer, capacity)
  for (const [hash, value] of entries) insert(shard, hash, value)
  return shard
}

/** Makes a shard twice as large as its values need. */
function resize<V>(shard: Shard<V>): void {
  const { hashes, values } = shard
  const roomy = shardOfCapacity<V>(shard.writer, Math.max(smallestCapacity, shard.size * 2))
  for (const [at, value] of values.entries()) if (value !== undefined) insert(roomy, hashes[at] ?? 0, value)
  shard.hashes = roomy.hashes
  shard.values = roomy.values
}

function insert<V>(shard: Shard<V>, hash: number, value: V): void {
  const { hashes, values } = shard
  const capacity = hashes.length
  let at = home(hash, capacity)
  while (hashes[at] !== 0) at = at + 1 === capacity ? 0 : at + 1
  hashes[at] = hash
  values[at] = value
  shard.size++
}

function find<V>({ hashes, values }: Shard<V>, hash: number, value: V): number {
  const capacity = hashes.length
  for (let at = home(hash, capacity); hashes[at] !== 0; at = at + 1 === capacity ? 0 : at + 1) {
    if (values[at] === value) return at
  }
  return -1
}

/** Empties a slot and moves what comes after it closer to where it is looked for first. */
function closeGap<V>({ hashes, values }: Shard<V>, gap: number): void {
  const capacity = hashes.length
  let hole = gap
  for (let at = next(hole, capacity); hashes[at] !== 0; at = next(at, capacity)) {
    const hash = hashes[at] ?? 0
    const wanted = home(hash, capacity)
    // Stays where it is if it is looked for only after the hole.
    const isAfterHole = hole <= at ? hole < wanted && wanted <= at : hole < wanted || wanted <= at
    if (isAfterHole) continue
    hashes[hole] = hash
    values[hole] = values[at]
    hole = at
  }
  hashes[hole] = 0
  values[hole] = undefined
}

function next(at: number, capacity: number): number {
  return at + 1 === capacity ? 0 : at + 1
}
