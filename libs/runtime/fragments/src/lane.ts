import {
  DriftLimit,
  ownerMark,
  parseOwnerMark,
  queueGauges,
  queueObserver,
  WorkQueue,
  type OwnerMark,
} from '@kube-ovn/reconcile/work'
import type { KernelGauges, FragmentMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'
import type { Sink } from './sink.ts'

interface LaneOptions {
  readonly sinks: readonly Sink<unknown>[]
  readonly clock: Clock
  readonly metrics: FragmentMetrics
  /** Makes a target what is wanted. Never rejects. */
  work(sink: Sink<unknown>, target: string): Promise<void>
  onIdle(): void
}

/** Sinks that are asked one after the other, in their order; other lanes do not wait for a slow one of them. */
export class Lane implements AsyncDisposable {
  readonly #options: LaneOptions
  readonly #sinks: ReadonlyMap<string, Sink<unknown>>
  readonly #order: readonly string[]
  readonly #queue: WorkQueue<OwnerMark>
  readonly drift: DriftLimit
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(options: LaneOptions) {
    this.#options = options
    this.#sinks = new Map(options.sinks.map((sink) => [sink.kind.name, sink]))
    this.#order = [...this.#sinks.keys()]
    this.drift = new DriftLimit(options.clock)
    this.#queue = new WorkQueue({
      clock: options.clock,
      paceMs: (mark) => this.drift.pauseMs(mark),
      onReady: () => this.#start(),
      observer: queueObserver(options.metrics),
    })
  }

  has(sink: string): boolean {
    return this.#sinks.has(sink)
  }

  get gauges(): KernelGauges {
    return queueGauges(this.#queue, this.#order, 1)
  }

  get isIdle(): boolean {
    return this.#queue.isIdle && this.#running === undefined
  }

  add(sink: string, target: string): void {
    this.#queue.add(ownerMark(sink, target), 'live')
  }

  addAfter(sink: string, target: string, delayMs: number): void {
    this.#queue.addAfter(ownerMark(sink, target), delayMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#queue[Symbol.dispose]()
    await this.#running
  }

  #start(): void {
    // In a later turn: whatever comes in this one is one round.
    this.#running ??= Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined
        if (this.#queue.hasReady) this.#start()
        else this.#options.onIdle()
      })
  }

  async #run(): Promise<void> {
    const marks = this.#queue.take(Number.POSITIVE_INFINITY)
    const targets = marks.flatMap((mark) => {
      const parsed = parseOwnerMark(mark)
      return parsed === undefined ? [] : [{ mark, sink: parsed.feature, target: parsed.key }]
    })
    targets.sort((a, b) => this.#order.indexOf(a.sink) - this.#order.indexOf(b.sink))
    for (const { mark, sink: name, target } of targets) {
      const sink = this.#sinks.get(name)
      if (sink !== undefined && !this.#isClosed) await this.#options.work(sink, target)
      this.#queue.done(mark)
    }
  }
}
