import { monitorEventLoopDelay } from 'node:perf_hooks'
import { collectDefaultMetrics, Gauge, Registry, type MetricType } from 'prom-client'

/** How often the event loop is looked at, in ms. Each time wakes an idle process up. */
const resolutionMs = 20

/** The word of the text format; the numbers of the declared type are not there at runtime. */
const summary = 'summary' as unknown as MetricType

/** Quantiles that are found out already. Prometheus has the label `quantile` for summaries alone; this one has no count and no sum. */
class Quantiles extends Gauge {
  override async get(): ReturnType<Gauge['get']> {
    return { ...(await super.get()), type: summary }
  }
}

/** Makes a registry of its own for a process, with the `process_*` and `nodejs_*` metrics in it. */
export function processRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: resolutionMs })
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  new Quantiles({
    name: 'kube_ovn_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape, by quantile.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of [0.5, 0.99, 1]) {
        const nanoseconds = delay.percentile(Math.max(quantile * 100, 1e-3))
        this.set({ quantile: String(quantile) }, Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0)
      }
      delay.reset()
    },
  })
  return registry
}
