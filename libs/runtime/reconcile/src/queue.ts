import type { Clock } from '@kube-ovn/time'

/** Keys of live changes are taken before those of an initial list. */
type Band = 'live' | 'initial'

/** Hears what a queue does, for metrics. */
export interface QueueObserver<K> {
  added(key: K): void
  taken(key: K, waitedMs: number): void
  finished(key: K, workedMs: number): void
}

interface Lane {
  readonly name: string
  readonly apartMs: number
}

interface QueueOptions<K> {
  readonly clock: Clock
  /** At most one take of a key in this time; 0 for no limit. */
  paceMs(key: K): number
  /** What keys of one lane write lies at least so far apart, whichever of them writes, but for those of an initial list. Absent: there are no lanes. */
  laneOf?(key: K): Lane | undefined
  /** Keys became ready. Called from within `add`, so it must not take at once. */
  onReady(): void
  readonly observer?: QueueObserver<K>
}

interface Waiting {
  readonly sinceMs: number
  band: Band
  /** What has woken it, of whatever else it has woken. */
  readonly wake: number | undefined
}

interface Working {
  readonly sinceMs: number
  /** Arrived meanwhile: queued again when the work is done. */
  again: Band | undefined
}

/**
 * Holds keys to be worked on, each once.
 *
 * A key that is being worked on is not taken again; it is queued anew afterwards if it was added meanwhile.
 */
export class WorkQueue<K> implements Disposable {
  readonly #options: QueueOptions<K>
  readonly #clock: Clock
  readonly #bands: Readonly<Record<Band, Set<K>>> = { live: new Set(), initial: new Set() }
  readonly #waiting = new Map<K, Waiting>()
  readonly #working = new Map<K, Working>()
  readonly #paced = new Map<K, Disposable>()
  readonly #later = new Map<K, Disposable>()
  readonly #takenAtMs = new Map<K, number>()
  /** When keys of a lane have written last. */
  readonly #wroteAtMs = new Map<string, number>()
  #isClosed = false

  constructor(options: QueueOptions<K>) {
    this.#options = options
    this.#clock = options.clock
  }

  /**
   * Queues a key now, or as soon as its pace allows. A pending retry or recheck is superseded.
   *
   * @param wake the same for keys that should be taken together
   */
  add(key: K, band: Band, wake?: number): void {
    if (this.#isClosed) return
    const working = this.#working.get(key)
    if (working !== undefined) {
      working.again = working.again === 'live' ? 'live' : band
      return
    }
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) {
      if (waiting.band === 'initial' && band === 'live') this.#move(key, waiting)
      return
    }
    this.#cancel(this.#later, key)
    if (this.#paced.has(key)) return
    const restMs = this.#restMs(key, band)
    if (restMs <= 0) {
      this.#enqueue(key, band, wake)
      return
    }
    const timer = this.#clock.setTimer(restMs, () => {
      this.#paced.delete(key)
      this.#enqueue(key, band)
    })
    this.#paced.set(key, timer)
  }

  /** For how long a key must wait yet. */
  #restMs(key: K, band: Band): number {
    const paceMs = this.#options.paceMs(key)
    const lane = band === 'live' ? this.#options.laneOf?.(key) : undefined
    const takenAtMs = paceMs > 0 ? this.#takenAtMs.get(key) : undefined
    const wroteAtMs = lane === undefined ? undefined : this.#wroteAtMs.get(lane.name)
    const endMs = Math.max((takenAtMs ?? -Infinity) + paceMs, (wroteAtMs ?? -Infinity) + (lane?.apartMs ?? 0))
    return endMs - this.#clock.monotonic()
  }

  /** A key writes now, and the others of its lane are to wait. */
  wrote(key: K): void {
    const lane = this.#options.laneOf?.(key)
    if (lane !== undefined) this.#wroteAtMs.set(lane.name, this.#clock.monotonic())
  }

  /** Queues a key after a time, unless it is queued before. Replaces an earlier delay. */
  addAfter(key: K, delayMs: number): void {
    if (this.#isClosed || this.#waiting.has(key) || this.#paced.has(key)) return
    this.#cancel(this.#later, key)
    const timer = this.#clock.setTimer(delayMs, () => {
      this.#later.delete(key)
      this.add(key, 'live')
    })
    this.#later.set(key, timer)
  }

  /** Takes up to `limit` keys, live ones first, in the order in which they came; up to `most` of those that one thing has woken. */
  take(limit: number, most = limit): readonly K[] {
    const taken: K[] = []
    const nowMs = this.#clock.monotonic()
    let last: number | undefined
    for (const band of [this.#bands.live, this.#bands.initial]) {
      for (const key of band) {
        const { sinceMs = nowMs, wake } = this.#waiting.get(key) ?? {}
        const goesAlong = wake !== undefined && wake === last && taken.length < most
        if (taken.length >= limit && !goesAlong) return taken
        last = wake
        band.delete(key)
        const waitedMs = nowMs - sinceMs
        this.#waiting.delete(key)
        this.#working.set(key, { sinceMs: nowMs, again: undefined })
        this.#noteTaken(key, nowMs)
        this.#options.observer?.taken(key, waitedMs)
        taken.push(key)
      }
    }
    return taken
  }

  /** Remembers when a key was taken for as long as its pace asks for it. */
  #noteTaken(key: K, nowMs: number): void {
    const { paceMs } = this.#options
    if (paceMs(key) <= 0) return
    for (const [other, takenAtMs] of this.#takenAtMs) {
      if (nowMs - takenAtMs < paceMs(other)) break
      this.#takenAtMs.delete(other)
    }
    this.#takenAtMs.delete(key)
    this.#takenAtMs.set(key, nowMs)
  }

  /** Ends the work on a key that was taken. */
  done(key: K): void {
    const working = this.#working.get(key)
    if (working === undefined) return
    this.#working.delete(key)
    this.#options.observer?.finished(key, this.#clock.monotonic() - working.sinceMs)
    if (working.again !== undefined) this.add(key, working.again)
  }

  get hasReady(): boolean {
    return this.#waiting.size > 0
  }

  /** Keys that can be taken now. */
  get ready(): number {
    return this.#waiting.size
  }

  /** Nothing is ready, being worked on or held back by its pace. Retries and rechecks do not count. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#working.size === 0 && this.#paced.size === 0
  }

  /** How long the key that has waited longest, or is worked on longest, has not been served. */
  get oldestMs(): number {
    let sinceMs = Number.POSITIVE_INFINITY
    for (const entry of this.#waiting.values()) sinceMs = Math.min(sinceMs, entry.sinceMs)
    for (const entry of this.#working.values()) sinceMs = Math.min(sinceMs, entry.sinceMs)
    return Math.max(0, this.#clock.monotonic() - Math.min(sinceMs, this.#clock.monotonic()))
  }

  /** Keys that wait, and for each key that is worked on for how long. */
  *waiting(): Iterable<K> {
    yield* this.#waiting.keys()
  }

  *working(): Iterable<readonly [key: K, workedMs: number]> {
    const nowMs = this.#clock.monotonic()
    for (const [key, { sinceMs }] of this.#working) yield [key, nowMs - sinceMs]
  }

  /** Forgets every key, and takes no more. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const timers of [this.#paced, this.#later]) {
      for (const timer of timers.values()) timer[Symbol.dispose]()
      timers.clear()
    }
    this.#waiting.clear()
    this.#bands.live.clear()
    this.#bands.initial.clear()
  }

  #enqueue(key: K, band: Band, wake?: number): void {
    this.#waiting.set(key, { sinceMs: this.#clock.monotonic(), band, wake })
    this.#bands[band].add(key)
    this.#options.observer?.added(key)
    this.#options.onReady()
  }

  #move(key: K, waiting: Waiting): void {
    this.#bands.initial.delete(key)
    this.#bands.live.add(key)
    waiting.band = 'live'
  }

  #cancel(timers: Map<K, Disposable>, key: K): void {
    timers.get(key)?.[Symbol.dispose]()
    timers.delete(key)
  }
}
