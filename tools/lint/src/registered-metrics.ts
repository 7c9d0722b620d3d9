import {
  addressAuditMetrics,
  agentMetrics,
  clientMetrics,
  databaseMetrics,
  fragmentMetrics,
  kernelMetrics,
  leaderMetrics,
  logMetrics,
  monitorMetrics,
  nodeParameterMetrics,
  pingerMetrics,
  Registry,
  speakerMetrics,
  subnetMetrics,
  vswitchMetrics,
} from '@kube-ovn/telemetry'
import type { upstreamMetrics } from './upstream-metrics.ts'

export type Program = keyof typeof upstreamMetrics

function unasked(): never {
  throw new Error('nobody looks at a value')
}

/** What each program registers. */
const registered: Readonly<Record<Program, readonly ((registry: Registry) => unknown)[]>> = {
  controller: [
    ...[kernelMetrics, addressAuditMetrics, databaseMetrics, logMetrics, clientMetrics],
    (registry) => leaderMetrics(registry, 'test', () => true),
    (registry) => subnetMetrics(registry, unasked),
  ],
  agent: [
    ...[databaseMetrics, fragmentMetrics, logMetrics, clientMetrics],
    (registry) => agentMetrics(registry, 'n1'),
    (registry) => nodeParameterMetrics(registry, 'n1', unasked),
  ],
  pinger: [
    logMetrics,
    (registry) => pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' }),
    (registry) => vswitchMetrics(registry, unasked),
  ],
  monitor: [(registry) => monitorMetrics(registry, 'n1', unasked)],
  speaker: [logMetrics, (registry) => speakerMetrics(registry, 'n1', unasked)],
}

/** The type and the labels of a metric. */
export interface Registered {
  readonly type: string
  readonly labels: readonly string[]
}

/** The metrics that a program registers for itself, beside those of every process. */
export function metricsOf(program: Program): ReadonlyMap<string, Registered> {
  const registry = new Registry()
  for (const register of registered[program]) register(registry)
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: readonly string[] }
      return [
        name,
        { type: metric.constructor.name.toLowerCase().replace('showngauge', 'gauge'), labels: labelNames },
      ]
    }),
  )
}
