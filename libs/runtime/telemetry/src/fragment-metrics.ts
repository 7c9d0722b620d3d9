import { Counter, Gauge, type Registry } from 'prom-client'
import { queueMetrics } from './queue-metrics.ts'

/** Metrics of the kernel that applies fragments by sinks; `controller` is the sink. */
export function fragmentMetrics(registry: Registry) {
  const registers = [registry]
  const writes = new Counter({
    name: 'kube_ovn_node_writes_total',
    help: 'Changes that were made on the node, by sink.',
    labelNames: ['controller'],
    registers,
  })
  const refused = new Gauge({
    name: 'kube_ovn_node_fragments_refused',
    help: 'What features want at present and do not get, by feature and sink.',
    labelNames: ['feature', 'controller'],
    registers,
  })
  return {
    ...queueMetrics(registry),
    written(sink: string, changes: number): void {
      writes.inc({ controller: sink }, changes)
    },
    refused(feature: string, sink: string, count: number): void {
      refused.set({ feature, controller: sink }, count)
    },
  }
}

export type FragmentMetrics = ReturnType<typeof fragmentMetrics>
