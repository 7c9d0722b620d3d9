import { definitions } from '@kube-ovn/kube-api'
import { customResourceDefinitions } from '@kube-ovn/kube-api/core'
import type { KubeClient, KubeObject, ObjectChange, Resource, Store } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { AnyInformer, KubeEvent } from '@kube-ovn/reconcile'
import { sleep, type Clock } from '@kube-ovn/time'

interface DefinitionDeletionOptions {
  readonly client: Pick<KubeClient, 'get'>
  readonly clock: Clock
  readonly log: Logger
  readonly record: (event: KubeEvent) => void
}

/** Of a definition. */
interface Reads {
  readonly running: Promise<boolean>
  next: Promise<boolean> | undefined
}

type Listener = (change: ObjectChange) => void

/** Until the API server is asked again that did not answer. */
const retryMs = 1_000

/**
 * Tells the deletion of an object from that of its kind: with the definition of a kind all of its objects are deleted,
 * and whoever took that for their users' wish would take down every network.
 *
 * A deletion is not shown before the definition was read afterwards and stood. While it is being deleted nothing is: the
 * objects stay for as long as our finalizers are on them, and with them what they stand for.
 */
export class DefinitionDeletion implements Disposable {
  readonly #options: DefinitionDeletionOptions
  /** Objects whose own deletion was asked for, by uid. */
  readonly #meant = new Set<string>()
  readonly #shown = new WeakMap<KubeObject, KubeObject>()
  readonly #listeners = new Map<AnyInformer, Set<Listener>>()
  readonly #subscriptions = new DisposableStack()
  readonly #pending = new Set<Promise<void>>()
  /** By name of the definition. */
  readonly #reads = new Map<string, Reads>()
  readonly #told = new Set<string>()
  readonly #stop = new AbortController()

  constructor(options: DefinitionDeletionOptions) {
    this.#options = options
  }

  /** The objects of a store, without deletions that nobody asked for. */
  view<T extends KubeObject>(resource: Resource, store: Store<T>): Store<T> {
    if (!isOurs(resource)) return store
    const show = (object: T): T => this.#show(object)
    return {
      get size() {
        return store.size
      },
      get(key) {
        const object = store.get(key)
        return object === undefined ? undefined : show(object)
      },
      values: () => Iterator.from(store.values()).map(show),
      find: (index, value) => store.find(index, value).map(show),
    }
  }

  /** An informer that tells of a deletion when it is known that somebody asked for it. It must have its first list. */
  informer(informer: AnyInformer): AnyInformer {
    if (!isOurs(informer.resource)) return informer
    const listeners = new Set<Listener>()
    this.#listeners.set(informer, listeners)
    for (const object of informer.store.values()) this.#look(informer, object)
    this.#subscriptions.use(
      informer.onChange((change) => {
        if (change.new !== undefined) this.#look(informer, change.new)
        else this.#meant.delete(change.old?.metadata.uid ?? '')
      }),
    )
    return {
      resource: informer.resource,
      store: informer.store,
      onChange(listener) {
        listeners.add(listener)
        const own = informer.onChange(listener)
        return {
          [Symbol.dispose]() {
            listeners.delete(listener)
            own[Symbol.dispose]()
          },
        }
      },
      trimmed: (object) => informer.trimmed(object),
      observe: (object) => informer.observe(object),
      observeRemoval: (ref, uid, removal) => informer.observeRemoval(ref, uid, removal),
    }
  }

  /** Settles when it is known of every deletion so far whether it was asked for. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    this.#subscriptions.dispose()
  }

  #show<T extends KubeObject>(object: T): T {
    if (!this.#isUncertain(object)) return object
    const known = this.#shown.get(object)
    if (known !== undefined) return known as T
    const { deletionTimestamp: _hidden, ...metadata } = object.metadata
    const shown = { ...object, metadata }
    this.#shown.set(object, shown)
    return shown
  }

  #isUncertain({ metadata: { deletionTimestamp, uid = '' } }: KubeObject): boolean {
    return deletionTimestamp !== undefined && !this.#meant.has(uid)
  }

  #look(informer: AnyInformer, object: KubeObject): void {
    if (!this.#isUncertain(object)) return
    const { namespace, name, uid = '' } = object.metadata
    const key = namespace === undefined ? name : `${namespace}/${name}`
    const asked = this.#ask(informer, key, uid).finally(() => this.#pending.delete(asked))
    this.#pending.add(asked)
  }

  async #ask(informer: AnyInformer, key: string, uid: string): Promise<void> {
    if (!(await this.#stands(informer.resource)) || this.#meant.has(uid)) return
    const object = informer.store.get(key)
    if (object?.metadata.uid !== uid) return
    const old = this.#show(object)
    this.#meant.add(uid)
    for (const listener of this.#listeners.get(informer) ?? [])
      listener({ key, old, new: object, initial: false })
  }

  /**
   * Whether the definition of a kind is there to stay, as read from now on: those who ask while it is being read share the
   * next answer, so that many deletions at once take few reads.
   */
  #stands(resource: Resource): Promise<boolean> {
    const name = `${resource.plural}.${resource.group}`
    const reads = this.#reads.get(name)
    if (reads !== undefined) return (reads.next ??= reads.running.then(() => this.#read(name, resource)))
    return this.#read(name, resource)
  }

  #read(name: string, { kind }: Resource): Promise<boolean> {
    const reads: Reads = {
      running: this.#readUntilAnswered(name, kind).finally(() => {
        if (reads.next === undefined) this.#reads.delete(name)
      }),
      next: undefined,
    }
    this.#reads.set(name, reads)
    return reads.running
  }

  async #readUntilAnswered(name: string, kind: string): Promise<boolean> {
    const { client, clock, log } = this.#options
    for (;;) {
      try {
        const definition = await client.get(customResourceDefinitions, { name })
        if (definition !== undefined && definition.metadata.deletionTimestamp === undefined) return true
        this.#tell(name, definition?.metadata.uid)
        return false
      } catch (err) {
        if (this.#stop.signal.aborted) return false
        log.warn('definition was not read', { kind, retryMs, err })
        await sleep(clock, retryMs, this.#stop.signal).catch(() => undefined)
      }
    }
  }

  #tell(name: string, uid: string | undefined): void {
    if (this.#told.has(name)) return
    this.#told.add(name)
    const { log, record } = this.#options
    const message =
      `the CustomResourceDefinition ${name} is being deleted; its objects, and the networks and addresses that they stand ` +
      'for, stay in effect, and no new ones can be made: see "A definition that was deleted" in docs/user/held-deletions.md'
    log.error('definition is being deleted', { name })
    if (uid === undefined) return
    record({
      regarding: { resource: customResourceDefinitions, name, uid },
      type: 'Warning',
      reason: 'DefinitionDeleted',
      message,
    })
  }
}

function isOurs({ group, plural }: Resource): boolean {
  return definitions.some(({ resource }) => resource.group === group && resource.plural === plural)
}
