/**
 * A part of the table, probed linearly: a slot has the hash, and then the number that is found by it.
 *
 * Both lie side by side, so that to find, add or remove a number touches one line of the memory and no object.
 */
interface Shard {
  /** The index that may write here; every other one copies the shard first. */
  readonly writer: object
  slots: Int32Array
  size: number
}

/** Stands for an empty slot, and for nothing found: numbers start at 1. */
const none = 0

/** Average number of entries in a shard from which on there are twice as many shards. */
const fullShard = 1024

/** Entries of the smallest shard; a power of two, as all capacities are. */
const smallestCapacity = 8

/**
 * Finds numbers of leases by what a key of theirs hashes to.
 *
 * It keeps neither keys nor leases: whoever asks compares the key of what is found, as another may hash to the same.
 * It can be forked in constant time: both share all shards, and each copies a shard when it first writes there.
 */
export class HashIndex {
  #writer: object = {}
  #shards: Shard[] = [shardOf(this.#writer, smallestCapacity)]
  #size = 0
  #sharesArray = false

  /** An independent index of the same numbers. */
  fork(): HashIndex {
    const twin = new HashIndex()
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

  /** A number with the hash; 0 when there is none. */
  first(hash: number): number {
    const { slots } = this.#shardOf(hash)
    const mask = slots.length - 2
    for (let at = homeOf(hash, mask); ; at = (at + 2) & mask) {
      const number = slots[at + 1] ?? none
      if (number === none || slots[at] === hash) return number
    }
  }

  /** The number with the hash that comes after another such; 0 when that was the last. */
  next(hash: number, before: number): number {
    const numbers = this.all(hash)
    return numbers[numbers.indexOf(before) + 1] ?? none
  }

  /** All numbers with the hash, in the order of {@link next}. */
  all(hash: number): readonly number[] {
    const found: number[] = []
    const { slots } = this.#shardOf(hash)
    const mask = slots.length - 2
    for (let at = homeOf(hash, mask); ; at = (at + 2) & mask) {
      const number = slots[at + 1] ?? none
      if (number === none) return found
      if (slots[at] === hash) found.push(number)
    }
  }

  /** Adds a number that is not in it yet. */
  add(hash: number, number: number): void {
    if (this.#size >= this.#shards.length * fullShard) this.#doubleShards()
    const shard = this.#writable(hash)
    if (isFull(shard.size, capacityOf(shard))) resize(shard, capacityOf(shard) * 2)
    insert(shard, hash, number)
    this.#size++
  }

  /** Removes a number; nothing happens when it is not in it. */
  remove(hash: number, number: number): void {
    // Looks first, so that removing what is not there copies nothing.
    const at = find(this.#shardOf(hash), hash, number)
    if (at < 0) return
    const shard = this.#writable(hash)
    closeGap(shard.slots, at)
    shard.size--
    this.#size--
    const capacity = capacityOf(shard)
    if (shard.size * 5 < capacity && capacity > smallestCapacity) resize(shard, capacity / 2)
  }

  /** In no particular order; the index must not change meanwhile. */
  *values(): Generator<number, void, undefined> {
    for (const { slots } of this.#shards) {
      for (let at = 1; at < slots.length; at += 2) {
        const number = slots[at] ?? none
        if (number !== none) yield number
      }
    }
  }

  #shardOf(hash: number): Shard {
    const shard = this.#shards[hash & (this.#shards.length - 1)]
    if (shard === undefined) throw new RangeError('a mask of the number of shards names none of them')
    return shard
  }

  #writable(hash: number): Shard {
    const shard = this.#shardOf(hash)
    if (shard.writer === this.#writer) return shard
    if (this.#sharesArray) {
      this.#shards = this.#shards.slice()
      this.#sharesArray = false
    }
    const copy = { writer: this.#writer, slots: shard.slots.slice(), size: shard.size }
    this.#shards[hash & (this.#shards.length - 1)] = copy
    return copy
  }

  #doubleShards(): void {
    const before = this.#shards
    const lower = before.map((shard) => this.#half(shard, before.length, 0))
    const upper = before.map((shard) => this.#half(shard, before.length, before.length))
    this.#shards = [...lower, ...upper]
    this.#sharesArray = false
  }

  /** What of a shard has the bit of its hash as it is in `half`. */
  #half({ slots }: Shard, bit: number, half: number): Shard {
    const part = shardOf(this.#writer, smallestCapacity)
    let size = 0
    for (let at = 0; at < slots.length; at += 2)
      if (slots[at + 1] !== none && ((slots[at] ?? 0) & bit) === half) size++
    let capacity = smallestCapacity
    while (isFull(size, capacity)) capacity *= 2
    part.slots = new Int32Array(2 * capacity)
    for (let at = 0; at < slots.length; at += 2) {
      const [hash = 0, number = none] = [slots[at], slots[at + 1]]
      if (number !== none && (hash & bit) === half) insert(part, hash, number)
    }
    return part
  }
}

function shardOf(writer: object, capacity: number): Shard {
  return { writer, slots: new Int32Array(2 * capacity), size: 0 }
}

function capacityOf({ slots }: Shard): number {
  return slots.length >>> 1
}

/** Whether one more would make for long ways. */
function isFull(size: number, capacity: number): boolean {
  return size * 10 >= capacity * 7
}

/** Where a hash is looked for first: by its upper bits, as the lower ones have chosen the shard. */
function homeOf(hash: number, mask: number): number {
  return (hash >>> 15) & mask
}

function resize(shard: Shard, capacity: number): void {
  const { slots } = shard
  shard.slots = new Int32Array(2 * capacity)
  shard.size = 0
  for (let at = 0; at < slots.length; at += 2) {
    const number = slots[at + 1] ?? none
    if (number !== none) insert(shard, slots[at] ?? 0, number)
  }
}

function insert(shard: Shard, hash: number, number: number): void {
  const { slots } = shard
  const mask = slots.length - 2
  let at = homeOf(hash, mask)
  while (slots[at + 1] !== none) at = (at + 2) & mask
  slots[at] = hash
  slots[at + 1] = number
  shard.size++
}

function find({ slots }: Shard, hash: number, number: number): number {
  const mask = slots.length - 2
  for (let at = homeOf(hash, mask); ; at = (at + 2) & mask) {
    const found = slots[at + 1]
    if (found === number) return at
    if (found === none) return -1
  }
}

/** Empties a slot and moves what comes after it closer to where it is looked for first. */
function closeGap(slots: Int32Array, gap: number): void {
  const mask = slots.length - 2
  let hole = gap
  for (let at = (hole + 2) & mask; ; at = (at + 2) & mask) {
    const number = slots[at + 1] ?? none
    if (number === none) break
    const hash = slots[at] ?? 0
    // Stays where it is if the hole is before where it is looked for first.
    if (((at - homeOf(hash, mask)) & mask) < ((at - hole) & mask)) continue
    slots[hole] = hash
    slots[hole + 1] = number
    hole = at
  }
  slots[hole + 1] = none
}
