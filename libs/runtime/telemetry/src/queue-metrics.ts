import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** What a scrape asks the kernel for. */
export interface KernelGauges {
  /** Keys that wait, by feature. */
  depth(): ReadonlyMap<string, number>
  /** Seconds that each key in work has taken so far, by feature. */
  working(): ReadonlyMap<string, readonly number[]>
  /** Keys of one feature that may be in work at a time. */
  readonly concurrency: number
}

/** Exponential from 10 ns, as client-go has it for its work queues. */
const queueSeconds = Array.from({ length: 12 }, (_, n) => 1e-8 * 10 ** n)

/** As controller-runtime has it. */
const reconcileSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after'

/**
 * Metrics of a queue of keys and of what becomes of them.
 *
 * Those that controller-runtime has keep its names and labels, so that ready-made dashboards work; `name` and
 * `controller` are the feature, or the sink.
 *
 * @see https://book.kubebuilder.io/reference/metrics-reference
 */
export function queueMetrics(registry: Registry) {
  const registers = [registry]
  const queueLabels = ['name', 'controller'] as const
  let gauges: KernelGauges | undefined
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers })

  new Gauge({
    name: 'workqueue_depth',
    help: 'Current depth of the work queue.',
    labelNames: [...queueLabels, 'priority'],
    registers,
    collect() {
      this.reset()
      for (const [name, depth] of gauges?.depth() ?? [])
        this.set({ name, controller: name, priority: '' }, depth)
    },
  })
  new Gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'Seconds of work that is in progress and has not been observed by work_duration.',
    labelNames: queueLabels,
    registers,
    collect() {
      this.reset()
      for (const [name, seconds] of gauges?.working() ?? []) {
        this.set(
          { name, controller: name },
          seconds.reduce((sum, one) => sum + one, 0),
        )
      }
    },
  })
  new Gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'Seconds that the longest running work has taken so far.',
    labelNames: queueLabels,
    registers,
    collect() {
      this.reset()
      for (const [name, seconds] of gauges?.working() ?? [])
        this.set({ name, controller: name }, Math.max(0, ...seconds))
    },
  })
  new Gauge({
    name: 'controller_runtime_active_workers',
    help: 'Keys in work.',
    labelNames: ['controller'],
    registers,
    collect() {
      this.reset()
      for (const [controller, seconds] of gauges?.working() ?? []) this.set({ controller }, seconds.length)
    },
  })
  new Gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Keys that may be in work at a time, in one transaction.',
    labelNames: ['controller'],
    registers,
    collect() {
      this.reset()
      for (const controller of gauges?.depth().keys() ?? [])
        this.set({ controller }, gauges?.concurrency ?? 0)
    },
  })
  const adds = counter('workqueue_adds_total', 'Keys added to the work queue.', queueLabels)
  const retries = counter('workqueue_retries_total', 'Keys queued again after a failure.', queueLabels)
  const queueDuration = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a key stays in the work queue before it is taken.',
    labelNames: queueLabels,
    buckets: queueSeconds,
    registers,
  })
  const workDuration = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long a key is worked on, its patches included.',
    labelNames: queueLabels,
    buckets: queueSeconds,
    registers,
  })
  const reconciles = counter('controller_runtime_reconcile_total', 'Reconciliations by result.', [
    'controller',
    'result',
  ])
  const errors = counter('controller_runtime_reconcile_errors_total', 'Failed reconciliations.', [
    'controller',
  ])
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Failed reconciliations that are not retried before something changes.',
    ['controller'],
  )
  const reconcileTime = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of a reconciliation from taking the key to the end of its transaction.',
    labelNames: ['controller'],
    buckets: reconcileSeconds,
    registers,
  })
  const driftFound = counter('kube_ovn_drift_found_total', 'Keys whose rows somebody else changed.', [
    'controller',
  ])
  const driftHealed = counter(
    'kube_ovn_drift_healed_total',
    'Keys whose rows somebody else changed, and that were put right.',
    ['controller'],
  )
  return {
    /** Names the source of what is measured at a scrape. */
    observe(source: KernelGauges): void {
      gauges = source
    },
    added(controller: string): void {
      adds.inc({ name: controller, controller })
    },
    retried(controller: string): void {
      retries.inc({ name: controller, controller })
    },
    taken(controller: string, waitedMs: number): void {
      queueDuration.observe({ name: controller, controller }, waitedMs / 1000)
    },
    finished(controller: string, workedMs: number): void {
      workDuration.observe({ name: controller, controller }, workedMs / 1000)
    },
    reconciled(controller: string, result: ReconcileResult, tookMs: number): void {
      reconciles.inc({ controller, result })
      reconcileTime.observe({ controller }, tookMs / 1000)
      if (result === 'error') errors.inc({ controller })
    },
    parked(controller: string): void {
      terminal.inc({ controller })
    },
    driftFound(controller: string): void {
      driftFound.inc({ controller })
    },
    driftHealed(controller: string): void {
      driftHealed.inc({ controller })
    },
  }
}

export type QueueMetrics = ReturnType<typeof queueMetrics>
