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

/** What prom-client calls them. */
const measuredQuantiles = { 0.5: 'p50', 0.99: 'p99', 1: 'max' }

/** Makes a registry of its own for a process, with the `process_*` and `nodejs_*` metrics in it. */
export function processRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: resolutionMs })
  new Quantiles({
    name: 'kube_ovn_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape, by quantile.',
    labelNames: ['quantile'],
    registers: [registry],
    // Of the same histogram, which those before have read and begun anew: another one would wake the process up as often again.
    async collect() {
      for (const [quantile, measured] of Object.entries(measuredQuantiles)) {
        const gauge = registry.getSingleMetric(`nodejs_eventloop_lag_${measured}_seconds`)
        const seconds = gauge === undefined ? undefined : (await gauge.get()).values[0]?.value
        this.set({ quantile }, Number.isFinite(seconds) ? Number(seconds) : 0)
      }
    },
  })
  return registry
}
