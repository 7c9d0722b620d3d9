import { emptyMap } from './column-type.ts'
import type { Atom } from './types.ts'

type Entries = Readonly<Record<string, Atom>>

/** Smaller maps are copied: that is cheaper than reading them through a {@link Version}. */
const largeMap = 256

/** Whoever reads from a version that is older by so many changes gets a copy of its own. */
const longAgo = 64

/**
 * Applies a difference, as update2 has it, to a map that stays as it was: an entry that the map has with the same value is
 * removed, any other is added or replaces the one of the same key.
 *
 * Of a large map nothing is copied. The newest version has all entries, and each older one what it had otherwise.
 */
export function nextVersion(old: Entries, difference: Entries): Entries {
  const keys = Object.keys(difference)
  if (keys.length === 0) return old
  const version = versions.get(old)
  if (version === undefined && Object.keys(old).length < largeMap) return copyWith(old, difference)
  return (version ?? firstVersion(old)).next(difference, keys).proxy
}

function firstVersion(old: Entries): Version {
  const all = copyWith(old, emptyMap())
  return new Version(all, Object.keys(all).length)
}

/** How many entries a map has: of a large one it is known, where listing its keys costs something for each of them. */
export function countEntries(map: Entries): number {
  return versions.get(map)?.count ?? Object.keys(map).length
}

function copyWith(old: Entries, difference: Entries): Record<string, Atom> {
  const result = emptyMap()
  for (const key of Object.keys(old)) {
    if (!(key in difference)) result[key] = old[key] as Atom
  }
  for (const [key, value] of Object.entries(difference)) {
    if (old[key] !== value) result[key] = value
  }
  return result
}

const versions = new WeakMap<object, Version>()

/** What a large map was between two changes, readable like the object that it stands for. */
class Version implements ProxyHandler<Record<string, Atom>> {
  readonly proxy: Entries
  readonly count: number
  /** Of the newest version and of copies: all entries. Of the newest they become those of the next one. */
  #all: Record<string, Atom> | undefined
  /** Of an older version: what the next one has otherwise. */
  #before: ReadonlyMap<string, Atom | undefined> = new Map()
  #next: Version | undefined

  constructor(all: Record<string, Atom>, count: number) {
    this.#all = all
    this.count = count
    this.proxy = new Proxy<Record<string, Atom>>(emptyMap(), this)
    versions.set(this.proxy, this)
  }

  next(difference: Entries, keys: readonly string[]): Version {
    const all = this.#entries()
    const before = new Map<string, Atom | undefined>()
    let { count } = this
    for (const key of keys) {
      const had = all[key]
      before.set(key, had)
      if (had === undefined) count++
      if (had !== difference[key]) all[key] = difference[key] as Atom
      else if (Reflect.deleteProperty(all, key)) count--
    }
    this.#all = undefined
    this.#before = before
    this.#next = new Version(all, count)
    return this.#next
  }

  get(_target: object, key: string | symbol): Atom | undefined {
    return typeof key === 'string' ? Version.#read(this, key) : undefined
  }

  has(_target: object, key: string | symbol): boolean {
    return this.get(_target, key) !== undefined
  }

  ownKeys(): string[] {
    return Object.keys(this.#entries())
  }

  getOwnPropertyDescriptor(_target: object, key: string | symbol): PropertyDescriptor | undefined {
    const value = this.get(_target, key)
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true }
  }

  // Rows are never changed in place.
  set(): boolean {
    return false
  }

  defineProperty(): boolean {
    return false
  }

  deleteProperty(): boolean {
    return false
  }

  preventExtensions(): boolean {
    return false
  }

  static #read(start: Version, key: string): Atom | undefined {
    let version = start
    for (let steps = 0; ; steps++) {
      if (version.#all !== undefined) return version.#all[key]
      if (version.#before.has(key)) return version.#before.get(key)
      if (version.#next === undefined || steps === longAgo) return start.#entries()[key]
      version = version.#next
    }
  }

  /** All entries; an older version makes itself a copy. */
  #entries(): Record<string, Atom> {
    if (this.#all !== undefined) return this.#all
    const { newest, changes } = Version.#since(this)
    const all = copyWith(newest, emptyMap())
    for (const before of changes) {
      for (const [key, value] of before) {
        if (value === undefined) Reflect.deleteProperty(all, key)
        else all[key] = value
      }
    }
    this.#all = all
    this.#before = new Map()
    this.#next = undefined
    return all
  }

  /** What to take back, the latest first, from a newer version that knows its entries. */
  static #since(start: Version): {
    readonly newest: Entries
    readonly changes: readonly ReadonlyMap<string, Atom | undefined>[]
  } {
    const changes: ReadonlyMap<string, Atom | undefined>[] = []
    let version = start
    while (version.#all === undefined && version.#next !== undefined) {
      changes.push(version.#before)
      version = version.#next
    }
    return { newest: version.#all ?? emptyMap(), changes: changes.reverse() }
  }
}
