import { compareResourceVersions } from './resource-version.ts'
import { IndexedStore, objectKey, type IndexFunction } from './store.ts'
import type { KubeObject, ObjectChange, ObjectKey } from './types.ts'

/**
 * Holds the newest known state of each object, whichever way it comes: list, watch, or the answer to a write.
 *
 * These overtake one another. Resource versions tell which state is newer, and the uid of an object that a write of
 * ours removed is remembered until its DELETED event, so that an event still under way does not bring it back.
 * Each method answers the real changes: what is already known changes nothing.
 */
export class ObjectSet<T extends KubeObject> {
  readonly store: IndexedStore<T>
  readonly #removed = new Map<ObjectKey, string>()

  constructor(indexes?: Readonly<Record<string, IndexFunction<T>>>) {
    this.store = new IndexedStore(indexes)
  }

  /** Takes a state of an object, from an ADDED or MODIFIED event or from a write. */
  put(object: T): ObjectChange<T> | undefined {
    const key = objectKey(object)
    const old = this.store.get(key)
    if (old !== undefined && !isNewer(object, old)) return undefined
    if (this.#removed.get(key) === object.metadata.uid && object.metadata.uid !== undefined) return undefined
    this.store.put(key, object)
    return { key, old, new: object, initial: false }
  }

  /** Takes a DELETED event. It does not concern a newer object of the same name. */
  drop(object: T): ObjectChange<T> | undefined {
    const key = objectKey(object)
    if (this.#removed.get(key) === object.metadata.uid) this.#removed.delete(key)
    const old = this.store.get(key)
    if (old === undefined) return undefined
    if (compareResourceVersions(object.metadata.resourceVersion, old.metadata.resourceVersion) < 0)
      return undefined
    this.store.delete(key)
    return { key, old, new: undefined, initial: false }
  }

  /** Takes the answer to a deletion of ours: the object of this uid is gone, whatever events are still under way. */
  forget(key: ObjectKey, uid: string): ObjectChange<T> | undefined {
    const old = this.store.get(key)
    if (old === undefined || old.metadata.uid !== uid) return undefined
    this.#removed.set(key, uid)
    this.store.delete(key)
    return { key, old, new: undefined, initial: false }
  }

  /**
   * Takes a complete list, read at `resourceVersion`.
   *
   * What a write of ours brought since then is kept, unless the list is `authoritative`: after the server's database
   * was restored from a backup, old versions say nothing.
   */
  swap(
    objects: Iterable<T>,
    resourceVersion: string,
    options: { readonly authoritative: boolean; readonly initial: boolean },
  ): ObjectChange<T>[] {
    const changes: ObjectChange<T>[] = []
    const listed = new Set<ObjectKey>()
    for (const object of objects) {
      const key = objectKey(object)
      listed.add(key)
      const old = this.store.get(key)
      const isOutdated = options.authoritative
        ? old !== undefined && isSame(object, old)
        : old !== undefined && !isNewer(object, old)
      const removed = this.#removed.get(key)
      const isRemoved = !options.authoritative && removed !== undefined && removed === object.metadata.uid
      if (isOutdated || isRemoved) continue
      this.store.put(key, object)
      changes.push({ key, old, new: object, initial: options.initial })
    }
    for (const [key, old] of this.store.entries()) {
      if (listed.has(key)) continue
      if (
        !options.authoritative &&
        compareResourceVersions(old.metadata.resourceVersion, resourceVersion) > 0
      )
        continue
      this.store.delete(key)
      changes.push({ key, old, new: undefined, initial: options.initial })
    }
    for (const key of this.#removed.keys())
      if (options.authoritative || !listed.has(key)) this.#removed.delete(key)
    return changes
  }
}

function isNewer(object: KubeObject, than: KubeObject): boolean {
  return compareResourceVersions(object.metadata.resourceVersion, than.metadata.resourceVersion) > 0
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}
