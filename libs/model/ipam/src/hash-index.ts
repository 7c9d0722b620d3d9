/** What can be a key: it is compared by value. */
type Key = string | number | bigint

/**
 * A part of the table, probed linearly.
 *
 * `tags` has 0 where `values` has nothing, and otherwise the upper half of what the key of the value hashes to. That is
 * enough to know where the value is looked for first, and nearly always to tell it from others: most values are never
 * looked at but the one that is found, which counts as they are all over the memory.
 */
interface Shard<V> {
  /** The index that may write here; every other one copies the shard first. */
  readonly writer: object
  tags: Uint16Array
  values: (V | undefined)[]
  size: number
}

/** How a value is found. */
export interface IndexKey<K extends Key, V extends object> {
  /** Absent for a value that is not to be found. */
  readonly of: (value: V) => K | undefined
  readonly hash: (key: K) => number
  /** The hash of a value's key, which the value may know by heart. */
  readonly hashOf: (value: V) => number
}

/** Average number of values in a shard from which on there are twice as many shards. */
const fullShard = 1024

/** A power of two, as all capacities are. */
const smallestCapacity = 8

/**
 * Finds objects by a key that they have in themselves; several may have the same.
 *
 * It keeps no keys and no entries, but 10 bytes for each of its slots, of which at least half are in use when it grows. It can
 * be forked in constant time: both share all shards, and each copies a shard when it first writes there.
 */
export class HashIndex<K extends Key, V extends object> {
  readonly #key: IndexKey<K, V>
  #shards: Shard<V>[]
  #size = 0
  #writer: object = {}
  #sharesArray = false

  constructor(key: IndexKey<K, V>) {
    this.#key = key
    this.#shards = [emptyShard(this.#writer)]
  }

  /** An independent index of the same values. */
  fork(): HashIndex<K, V> {
    const twin = new HashIndex(this.#key)
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
    const hash = this.#key.hash(key)
    const { tags, values } = this.#shardOf(hash)
    const tag = tagOf(hash)
    const mask = tags.length - 1
    for (let at = tag & mask; tags[at] !== 0; at = (at + 1) & mask) {
      if (tags[at] !== tag) continue
      const value = values[at]
      if (value !== undefined && this.#key.of(value) === key) return value
    }
    return undefined
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  /** All values with the key, in no particular order. */
  all(key: K): readonly V[] {
    const found: V[] = []
    const hash = this.#key.hash(key)
    const { tags, values } = this.#shardOf(hash)
    const tag = tagOf(hash)
    const mask = tags.length - 1
    for (let at = tag & mask; tags[at] !== 0; at = (at + 1) & mask) {
      const value = values[at]
      if (tags[at] === tag && value !== undefined && this.#key.of(value) === key) found.push(value)
    }
    return found
  }

  /** Adds a value that is not in it yet; without a key it stays out. */
  add(value: V): void {
    if (this.#key.of(value) === undefined) return
    if (this.#size >= this.#shards.length * fullShard) this.#doubleShards()
    const hash = this.#key.hashOf(value)
    const shard = this.#writable(hash & (this.#shards.length - 1))
    if (isFull(shard.size, shard.tags.length)) resize(shard, shard.tags.length * 2)
    insert(shard, tagOf(hash), value)
    this.#size++
  }

  /** Removes this very value; false when it is not in it. */
  remove(value: V): boolean {
    if (this.#key.of(value) === undefined) return false
    const hash = this.#key.hashOf(value)
    const index = hash & (this.#shards.length - 1)
    const at = find(this.#shardOf(hash), tagOf(hash), value)
    // Looks first, so that removing what is not there copies nothing.
    if (at < 0) return false
    const shard = this.#writable(index)
    closeGap(shard, at)
    shard.size--
    this.#size--
    const capacity = shard.tags.length
    if (shard.size * 5 < capacity && capacity > smallestCapacity) resize(shard, capacity / 2)
    return true
  }

  /** In no particular order; the index must not change meanwhile. */
  *values(): Generator<V, void, undefined> {
    for (const { values } of this.#shards) {
      for (const value of values) if (value !== undefined) yield value
    }
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
    const { tags, values, size } = shard
    const copy = { writer: this.#writer, tags: tags.slice(), values: values.slice(), size }
    this.#shards[index] = copy
    return copy
  }

  #doubleShards(): void {
    const before = this.#shards
    const lower = before.map((shard) => this.#part(shard, before.length, 0))
    const upper = before.map((shard) => this.#part(shard, before.length, before.length))
    this.#shards = [...lower, ...upper]
    this.#sharesArray = false
  }

  /** The values of a shard for which the bit of their hash is as it is in `half`. */
  #part({ values }: Shard<V>, bit: number, half: number): Shard<V> {
    const kept = values.filter((value) => value !== undefined && (this.#key.hashOf(value) & bit) === half)
    let capacity = smallestCapacity
    while (isFull(kept.length, capacity)) capacity *= 2
    const shard = shardOfCapacity<V>(this.#writer, capacity)
    for (const value of kept) if (value !== undefined) insert(shard, tagOf(this.#key.hashOf(value)), value)
    return shard
  }
}

/** Spreads the characters of a text over 32 bits, four at a time: names are long, and each multiplication waits for the last. */
export function hashText(text: string): number {
  const { length } = text
  let hash = length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8)
    const high = text.charCodeAt(at + 2) | (text.charCodeAt(at + 3) << 8)
    hash = Math.imul(hash ^ low ^ (high << 16), 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  for (; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193)
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

/** Takes the upper bits, as the lower ones have chosen the shard; 0 stands for an empty slot. */
function tagOf(hash: number): number {
  return hash >>> 16 || 1
}

/** Whether one more would make for long ways. */
function isFull(size: number, capacity: number): boolean {
  return size * 10 >= capacity * 7
}

function emptyShard<V>(writer: object): Shard<V> {
  return shardOfCapacity(writer, smallestCapacity)
}

function shardOfCapacity<V>(writer: object, capacity: number): Shard<V> {
  const values = Array.from<V | undefined>({ length: capacity })
  return { writer, tags: new Uint16Array(capacity), values, size: 0 }
}

function resize<V>(shard: Shard<V>, capacity: number): void {
  const { tags, values } = shard
  const other = shardOfCapacity<V>(shard.writer, capacity)
  for (const [at, value] of values.entries()) if (value !== undefined) insert(other, tags[at] ?? 0, value)
  shard.tags = other.tags
  shard.values = other.values
}

function insert<V>(shard: Shard<V>, tag: number, value: V): void {
  const { tags, values } = shard
  const mask = tags.length - 1
  let at = tag & mask
  while (tags[at] !== 0) at = (at + 1) & mask
  tags[at] = tag
  values[at] = value
  shard.size++
}

function find<V>({ tags, values }: Shard<V>, tag: number, value: V): number {
  const mask = tags.length - 1
  for (let at = tag & mask; tags[at] !== 0; at = (at + 1) & mask) {
    if (tags[at] === tag && values[at] === value) return at
  }
  return -1
}

/** Empties a slot and moves what comes after it closer to where it is looked for first. */
function closeGap<V>({ tags, values }: Shard<V>, gap: number): void {
  const mask = tags.length - 1
  let hole = gap
  for (let at = (hole + 1) & mask; ; at = (at + 1) & mask) {
    const tag = tags[at] ?? 0
    if (tag === 0) break
    // Stays where it is if the hole is before where it is looked for first.
    if (((at - tag) & mask) < ((at - hole) & mask)) continue
    tags[hole] = tag
    values[hole] = values[at]
    hole = at
  }
  tags[hole] = 0
  values[hole] = undefined
}
