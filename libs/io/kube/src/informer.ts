import type { Logger } from '@kube-ovn/log'
import { backoffDelayMs, sleep, type Backoff, type Clock } from '@kube-ovn/time'
import { KubeOvnError } from '@kube-ovn/errors'
import type { KubeClient, Removal, Selection, WatchEvent } from './client.ts'
import {
  KubeBadRequestError,
  KubeGoneError,
  KubeNotFoundError,
  KubeTooManyRequestsError,
  KubeUnavailableError,
} from './errors.ts'
import { ObjectSet } from './object-set.ts'
import { listAll } from './pages.ts'
import { compareResourceVersions } from './resource-version.ts'
import { objectKey, type IndexFunction } from './store.ts'
import type { KubeObject, ObjectChange, ObjectRef, Resource, Store } from './types.ts'

export interface InformerOptions<T extends KubeObject> extends Omit<Selection, 'signal'> {
  readonly client: KubeClient
  readonly resource: Resource<T>
  readonly clock: Clock
  readonly logger: Logger
  /** Named functions whose values {@link Store.find} looks up. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /** The resource may not be served, or only later: until it is, it has no objects. */
  readonly mayBeAbsent?: boolean
  /** Leaves out what nobody reads, before the object is stored. It must not change its argument. */
  readonly trim?: (object: T) => T
  /** Yields values in [0, 1), for jitter. */
  readonly random?: () => number
  /** Objects to a page of a list. */
  readonly pageSize?: number
}

export interface InformerHealth {
  /** The store has been filled once. */
  readonly isSynced: boolean
  /** A watch is open; while it is not, the store shows the past. */
  readonly isWatching: boolean
  /** Wall-clock time of the last sign of life from the server, in milliseconds; 0 before the first. */
  readonly lastContactMs: number
  /** Why the last list or watch failed; `undefined` once one succeeded. */
  readonly lastError: unknown
}

export type ChangeListener<T extends KubeObject> = (change: ObjectChange<T>) => void

const BACKOFF: Backoff = { initialMs: 500, maxMs: 30_000, factor: 2, jitter: 0.5 }

/** The server is asked to end a watch after this time, up to twice as long, so that load spreads over its replicas. */
const MIN_WATCH_SECONDS = 300

/** A watch that ended sooner counts as failed, or a server that ends each at once would be asked in a tight loop. */
const MIN_WATCH_LIFE_MS = 1000

/**
 * Keeps a store of the objects of one resource equal to the server's, by a list and then a watch.
 *
 * The watch is resumed where it ended. When the server no longer knows that point, the list is read again, into a
 * buffer, and swapped in: readers never see half a list, and listeners see only what really changed. Listeners run
 * synchronously, after the store has changed; those of one list all run after the whole list is in the store.
 */
export class Informer<T extends KubeObject> implements AsyncDisposable {
  /** Settles once the store holds the first complete list and listeners have seen it; rejects if stopped before. */
  readonly synced: Promise<void>
  readonly #options: InformerOptions<T>
  readonly #objects: ObjectSet<T>
  readonly #trim: (object: T) => T
  readonly #random: () => number
  readonly #logger: Logger
  readonly #listeners = new Set<ChangeListener<T>>()
  readonly #synced = Promise.withResolvers<void>()
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #isSynced = false
  #isWatching = false
  #lastContactMs = 0
  #lastError: unknown
  /** Where the next watch goes on; `undefined` when a list must come first. */
  #resourceVersion: string | undefined
  /** The newest state of the server that was seen, kept when the place to go on is lost. */
  #newestVersion: string | undefined
  /** The server's database went back to before that state. */
  #hasGoneBack = false
  #failures = 0

  constructor(options: InformerOptions<T>) {
    this.#options = options
    this.#trim = options.trim ?? dropManagedFields
    this.#random = options.random ?? Math.random
    this.#logger = options.logger.child({ kind: options.resource.kind })
    this.#objects = new ObjectSet(this.#guarded(options.indexes ?? {}))
    this.synced = this.#synced.promise
    // Whoever does not wait for it must not be ended by its rejection.
    this.synced.catch(() => undefined)
  }

  get resource(): Resource<T> {
    return this.#options.resource
  }

  /** The only one that it watches; `undefined` for all. */
  get namespace(): string | undefined {
    return this.#options.namespace
  }

  get store(): Store<T> {
    return this.#objects.store
  }

  get health(): InformerHealth {
    return {
      isSynced: this.#isSynced,
      isWatching: this.#isWatching,
      lastContactMs: this.#lastContactMs,
      lastError: this.#lastError,
    }
  }

  /**
   * Calls `listener` at each change from now on, until the answer is disposed.
   *
   * What it throws is logged and goes no further.
   */
  onChange(listener: ChangeListener<T>): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Starts to list and watch; ends when `signal` is aborted or the informer is disposed. To be called once. */
  start(signal?: AbortSignal): void {
    const stop = signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal])
    this.#running = this.#run(stop)
  }

  /**
   * Takes an object that the server answered to a write of ours, so that the store knows it at once.
   *
   * Its watch event is then silent. Before the first list is there, and for an object that is new to an informer with
   * a selector (it may not match), the object is left to the list and the watch.
   */
  observe(object: T): void {
    const { namespace, labelSelector, fieldSelector } = this.#options
    if (!this.#isSynced) return
    if (namespace !== undefined && namespace !== object.metadata.namespace) return
    const isSelective = labelSelector !== undefined || fieldSelector !== undefined
    const isKnown = this.store.get(objectKey(object)) !== undefined
    if (isSelective && !isKnown) return
    // The watch is past this state, so it has told of the object's end as well.
    if (!isKnown && compareResourceVersions(object.metadata.resourceVersion, this.#newestVersion) <= 0) return
    this.#notify(this.#objects.put(this.#trim(object)))
  }

  /** What the store would keep of an object. */
  trimmed(object: T): T {
    return this.#trim(object)
  }

  /** Takes the answer to a deletion of ours. `uid` is that of the object that was to be deleted. */
  observeRemoval(ref: ObjectRef, uid: string, removal: Removal<T>): void {
    if (!this.#isSynced) return
    if (removal.isGone) this.#notify(this.#objects.forget(objectKey({ metadata: ref }), uid))
    else if (removal.object !== undefined) this.observe(removal.object)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException('Informer was disposed', 'AbortError'))
    await this.#running
  }

  /** An index function that fails on an object does not find it, and stops no other. */
  #guarded(indexes: Readonly<Record<string, IndexFunction<T>>>): Readonly<Record<string, IndexFunction<T>>> {
    return Object.fromEntries(
      Object.entries(indexes).map(([index, valuesOf]) => [
        index,
        (object: T) => {
          try {
            return valuesOf(object)
          } catch (error) {
            this.#logger.error('index failed', { index, key: objectKey(object), err: error })
            return []
          }
        },
      ]),
    )
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const isResumed = this.#resourceVersion !== undefined
        if (!isResumed) await this.#list(signal)
        await this.#watch(signal, isResumed)
      } catch (error) {
        if (!signal.aborted) await this.#backOff(error, signal)
      }
    }
    this.#synced.reject(signal.reason)
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, pageSize = 500 } = this.#options
    const selection = { namespace, labelSelector, fieldSelector, signal, limit: pageSize }
    const { items, resourceVersion } = await listAll(client, resource, selection, this.#trim).catch(
      (error: unknown) => {
        if (this.#isAbsence(error)) this.#beginWithNothing()
        throw error
      },
    )
    this.#touch()
    const changes = this.#objects.swap(items, resourceVersion, {
      // The list is the newest state there is. That it is older than what we saw means that the database went back.
      authoritative: this.#hasGoneBack || compareResourceVersions(resourceVersion, this.#newestVersion) < 0,
      initial: !this.#isSynced,
    })
    this.#resourceVersion = resourceVersion
    this.#newestVersion = resourceVersion
    this.#hasGoneBack = false
    this.#isSynced = true
    for (const change of changes) this.#notify(change)
    this.#synced.resolve()
  }

  #isAbsence(error: unknown): boolean {
    return this.#options.mayBeAbsent === true && error instanceof KubeNotFoundError && !error.details.hasName
  }

  /**
   * Nobody has objects of a resource that was never served. Of one that is served no more the server told every end
   * before; when it only seems so, what is known had better stay.
   */
  #beginWithNothing(): void {
    this.#isSynced = true
    this.#synced.resolve()
  }

  async #watch(signal: AbortSignal, isResumed: boolean): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, clock } = this.#options
    const timeoutSeconds = Math.round(MIN_WATCH_SECONDS * (1 + this.#random()))
    const end = new AbortController()
    const selection = {
      namespace,
      labelSelector,
      fieldSelector,
      signal: AbortSignal.any([signal, end.signal]),
    }
    const startedMs = clock.monotonic()
    try {
      const events = await client.watchStream(resource, {
        ...selection,
        resourceVersion: this.#resourceVersion,
        timeoutSeconds,
      })
      if (isResumed)
        this.#expectNewer((await client.list(resource, { ...selection, limit: 1 })).resourceVersion)
      this.#touch()
      this.#isWatching = true
      for await (const event of events) this.#take(event)
    } finally {
      this.#isWatching = false
      end.abort()
    }
    if (clock.monotonic() - startedMs < MIN_WATCH_LIFE_MS)
      throw new EndedWatchError('Watch ended at once', {})
  }

  /**
   * Finds out that etcd was restored from a backup.
   *
   * The server says nothing of that to a watch that goes on from a state of its future: it keeps silent until its versions have got
   * there, and what happened before never comes. A list without a version is as new as anything. When the versions have got there before
   * we ask, it can not be told.
   *
   * @throws WentBackError when the state is older than one that was seen
   */
  #expectNewer(resourceVersion: string | undefined): void {
    if (compareResourceVersions(resourceVersion, this.#newestVersion) >= 0) return
    this.#hasGoneBack = true
    throw new WentBackError('API server went back to an older state', {
      resourceVersion: resourceVersion ?? '',
      seen: this.#newestVersion ?? '',
    })
  }

  #take(event: WatchEvent<T>): void {
    this.#touch()
    this.#failures = 0
    if (event.type === 'BOOKMARK') {
      this.#expectNewer(event.resourceVersion)
      this.#advance(event.resourceVersion)
      return
    }
    const object = this.#trim(event.object)
    const change = event.type === 'DELETED' ? this.#objects.drop(object) : this.#objects.put(object)
    this.#advance(object.metadata.resourceVersion)
    this.#notify(change)
  }

  /** Waits before the next attempt, and decides whether that resumes the watch or begins with a list. */
  async #backOff(error: unknown, signal: AbortSignal): Promise<void> {
    this.#lastError = error
    const isGone = mustRelist(error)
    if (isGone) this.#resourceVersion = undefined
    // A version that expired says nothing about the server's health: the list can be read at once, the first time.
    const attempt = this.#failures++
    const isOutdated = isGone && !this.#isAbsence(error)
    const retryMs =
      isOutdated && attempt === 0 ? 0 : delayMs(error, backoffDelayMs(BACKOFF, attempt, this.#random))
    const fields = { attempt: attempt + 1, retryMs: Math.round(retryMs), err: error }
    if (error instanceof WentBackError) this.#logger.warn('API server went back', fields)
    else if (isGone || attempt === 0 || this.#isAbsence(error))
      this.#logger.debug('watch interrupted', fields)
    else this.#logger.warn('list and watch failed', fields)
    // An abort ends the wait; the caller sees it by itself.
    await sleep(this.#options.clock, retryMs, signal).catch(() => undefined)
  }

  #touch(): void {
    this.#lastContactMs = this.#options.clock.now()
    this.#lastError = undefined
  }

  #advance(resourceVersion: string | undefined): void {
    if (resourceVersion === undefined || resourceVersion === '') return
    this.#resourceVersion = resourceVersion
    this.#newestVersion = resourceVersion
  }

  #notify(change: ObjectChange<T> | undefined): void {
    if (change === undefined) return
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#logger.error('listener failed', { key: change.key, err: error })
      }
    }
  }
}

/** Leaves out `metadata.managedFields`, which is often most of an object. */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _dropped, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The server ended a watch that it had just accepted. */
class EndedWatchError extends KubeOvnError {
  readonly code = 'kube-watch-ended'
  readonly retry = 'backoff'
}

/** The server has an older state than it had: its database was restored from a backup. */
class WentBackError extends KubeOvnError<{ readonly resourceVersion: string; readonly seen: string }> {
  readonly code = 'kube-went-back'
  readonly retry = 'backoff'
}

/** Whether the place where the watch stood is of no more use. A server that is away or busy knows it still. */
function mustRelist(error: unknown): boolean {
  if (error instanceof KubeUnavailableError) {
    return error.details.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
  }
  return (
    error instanceof KubeGoneError ||
    error instanceof WentBackError ||
    error instanceof KubeNotFoundError ||
    error instanceof KubeBadRequestError
  )
}

function delayMs(error: unknown, ownMs: number): number {
  const isTold = error instanceof KubeTooManyRequestsError || error instanceof KubeUnavailableError
  return isTold ? Math.max(ownMs, error.details.retryAfterMs) : ownMs
}
