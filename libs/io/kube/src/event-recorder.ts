import { events, type CoreEvent } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import { backoffDelayMs, sleep, type Backoff, type Clock } from '@kube-ovn/time'
import type { KubeClient } from './client.ts'
import {
  KubeConnectionError,
  KubeForbiddenError,
  KubeNotFoundError,
  KubeTooManyRequestsError,
  KubeUnauthorizedError,
  KubeUnavailableError,
} from './errors.ts'
import { listAll } from './pages.ts'
import type { ObjectRef, Resource } from './types.ts'

/** The object that an event is about. */
export interface Regarding extends ObjectRef {
  readonly resource: Resource
  readonly uid: string
}

/** What happened to an object, for `kubectl describe`. */
export interface EventNote {
  readonly regarding: Regarding
  readonly type: 'Normal' | 'Warning'
  /** One word in CamelCase. */
  readonly reason: string
  readonly message: string
}

export interface EventRecorderOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly logger: Logger
  /** Who reports, e.g. `kube-ovn-controller`. */
  readonly component: string
  /** Which of them: the node's or the pod's name. */
  readonly instance: string
  readonly random?: () => number
}

/** Kubernetes forgets an event after an hour, so one that still happens is told again before that. */
const REFRESH_MS = 30 * 60_000

/** Distinct events that are remembered; the one longest unheard of is forgotten first. */
const MAX_REMEMBERED = 4096

/** Events that wait for the server. What comes on top is dropped: an event is news, not a record. */
const MAX_WAITING = 1000

const MAX_ATTEMPTS = 5

const BACKOFF: Backoff = { initialMs: 1000, maxMs: 30_000, factor: 3, jitter: 0.5 }

interface Remembered {
  readonly note: EventNote
  readonly firstMs: number
  count: number
  toldAtMs: number
  /** Name of the event object, once there is one. */
  name: string | undefined
}

/**
 * Tells users through events what happened to their objects.
 *
 * The same reason and message about one object is one event: a repeat is only counted, and told, with the count, when
 * half an hour has passed. Recording never waits and never fails; what cannot be sent in a few attempts is logged and
 * dropped. Of a namespace that is ending nobody needs to know: what happens there is its end.
 */
export class EventRecorder implements AsyncDisposable {
  readonly #options: EventRecorderOptions
  readonly #remembered = new Map<string, Remembered>()
  readonly #waiting: Remembered[] = []
  readonly #stop = new AbortController()
  #sending: Promise<void> | undefined
  #sequence = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  /** Records an event, which is sent in the background. */
  record(event: EventNote): void {
    if (this.#stop.signal.aborted) return
    const note = { ...event, message: shortened(event.message) }
    const nowMs = this.#options.clock.now()
    const key = keyOf(note)
    const known = this.#remembered.get(key)
    const remembered = known ?? {
      note,
      firstMs: nowMs,
      count: 0,
      toldAtMs: Number.NEGATIVE_INFINITY,
      name: undefined,
    }
    // The order of the map is that of the last occurrence.
    this.#remembered.delete(key)
    this.#remembered.set(key, remembered)
    remembered.count += 1
    if (nowMs - remembered.toldAtMs < REFRESH_MS) return
    if (this.#waiting.length >= MAX_WAITING) {
      this.#options.logger.warn('event dropped', { name: note.regarding.name, reason: note.reason })
      return
    }
    remembered.toldAtMs = nowMs
    this.#waiting.push(remembered)
    this.#forgetOldest()
    this.#sending ??= this.#send()
  }

  /**
   * Reads what earlier lives of the component told, so that this one does not tell it again.
   *
   * To be called before the first event is recorded. What fails is logged: the worst is that something is told twice.
   */
  async recall(): Promise<void> {
    const { client, component, logger } = this.#options
    const selection = { fieldSelector: `reportingComponent=${component}`, limit: 500 }
    try {
      const { items } = await listAll(client, events, selection)
      for (const event of items.slice(-MAX_REMEMBERED)) this.#recall(event)
    } catch (error) {
      logger.warn('events of earlier lives not read', { err: error })
    }
  }

  #recall(event: CoreEvent): void {
    const {
      involvedObject,
      type,
      reason = '',
      message = '',
      count = 1,
      firstTimestamp,
      lastTimestamp,
      metadata,
    } = event
    const { kind = '', name = '', namespace, uid = '' } = involvedObject
    if (type !== 'Normal' && type !== 'Warning') return
    const place = namespace === undefined ? {} : { namespace }
    const regarding = { resource: resourceOf(involvedObject.apiVersion ?? '', kind), name, ...place, uid }
    const toldAtMs = Date.parse(lastTimestamp ?? '') || 0
    const note: EventNote = { regarding, type, reason, message: shortened(message) }
    this.#remembered.set(keyOf(note), {
      note,
      firstMs: Date.parse(firstTimestamp ?? '') || toldAtMs,
      count,
      toldAtMs,
      name: metadata.name,
    })
  }

  /** Settles once all that was recorded so far was sent or dropped. */
  async flushed(): Promise<void> {
    await this.#sending
  }

  /** Drops what was not sent yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new DOMException('Event recorder was disposed', 'AbortError'))
    this.#waiting.length = 0
    await this.#sending
  }

  #forgetOldest(): void {
    for (const key of this.#remembered.keys()) {
      if (this.#remembered.size <= MAX_REMEMBERED) return
      this.#remembered.delete(key)
    }
  }

  async #send(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#tell(next)
    }
    this.#sending = undefined
  }

  async #tell(remembered: Remembered): Promise<void> {
    const { clock, logger, random = Math.random } = this.#options
    const { signal } = this.#stop
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#write(remembered, signal)
        return
      } catch (error) {
        if (signal.aborted) return
        const { regarding, reason } = remembered.note
        if (isOfEndingNamespace(error)) {
          logger.debug('event not sent, its namespace is ending', { name: regarding.name, reason })
          return
        }
        if (!isPassing(error) || attempt + 1 >= MAX_ATTEMPTS) {
          logger.warn('event not sent', { name: regarding.name, reason, attempt: attempt + 1, err: error })
          return
        }
        await sleep(clock, backoffDelayMs(BACKOFF, attempt, random), signal).catch(() => undefined)
      }
    }
  }

  async #write(remembered: Remembered, signal: AbortSignal): Promise<void> {
    const { client } = this.#options
    const namespace = remembered.note.regarding.namespace ?? 'default'
    if (remembered.name !== undefined) {
      const ref = { namespace, name: remembered.name }
      const repeat = { count: remembered.count, lastTimestamp: this.#timestamp() }
      try {
        await client.patch(events, ref, 'application/merge-patch+json', repeat, { signal })
        return
      } catch (error) {
        // The server has forgotten it.
        if (!(error instanceof KubeNotFoundError)) throw error
      }
    }
    const created = await client.create(events, this.#eventOf(remembered, namespace), { signal })
    remembered.name = created.metadata.name
  }

  #eventOf({ note, firstMs, count }: Remembered, namespace: string): CoreEvent {
    const { component, instance, clock } = this.#options
    const { resource, name, uid } = note.regarding
    // As client-go names them: the object's name and the time in nanoseconds, here with a counter for uniqueness.
    const stamp = BigInt(Math.trunc(clock.now())) * 1_000_000n + BigInt(this.#sequence++ % 1_000_000)
    return {
      metadata: { namespace, name: `${name}.${stamp.toString(16)}` },
      involvedObject: {
        apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
        kind: resource.kind,
        name,
        uid,
        ...(note.regarding.namespace === undefined ? {} : { namespace: note.regarding.namespace }),
      },
      type: note.type,
      reason: note.reason,
      message: note.message,
      count,
      firstTimestamp: timestamp(firstMs),
      lastTimestamp: this.#timestamp(),
      source: { component, host: instance },
      reportingComponent: component,
      reportingInstance: instance,
    }
  }

  #timestamp(): string {
    return timestamp(this.#options.clock.now())
  }
}

function keyOf({ regarding, type, reason, message }: EventNote): string {
  return [regarding.uid, type, reason, message].join('\n')
}

/** The API server refuses longer messages. */
const longestMessage = 1024

/** Letter by letter, since a slice would keep all of the message for as long as the event is remembered. */
function shortened(message: string): string {
  return message.length <= longestMessage ? message : message.slice(0, longestMessage).split('').join('')
}

/** As far as an event needs it that is only counted on. */
function resourceOf(apiVersion: string, kind: string): Resource {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  return { group, version, kind, plural: '', namespaced: false }
}

/** Whether there is nobody left to read the event: its namespace is being deleted, with all that is in it, or is gone. */
function isOfEndingNamespace(error: unknown): boolean {
  if (error instanceof KubeNotFoundError) return true
  return (
    error instanceof KubeForbiddenError &&
    error.details.causes.some(({ reason }) => reason === 'NamespaceTerminating')
  )
}

/** Whether the server could not answer, or the token is about to be replaced; what else it refuses it will refuse again. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof KubeConnectionError ||
    error instanceof KubeUnauthorizedError ||
    error instanceof KubeUnavailableError ||
    error instanceof KubeTooManyRequestsError
  )
}

/** Kubernetes' times of events have whole seconds. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
