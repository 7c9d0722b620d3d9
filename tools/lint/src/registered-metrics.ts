import { processRegistry, type Registry } from '@kube-ovn/telemetry'
import { measured, type Program } from './measured-metrics.ts'

/** What a page of a program shows of a metric. */
export interface Registered {
  readonly type: string
  readonly help: string
  /** Of all its series, but for the limits of buckets. */
  readonly labels: readonly string[]
  /** Limits of a histogram's buckets. */
  readonly buckets: readonly number[] | undefined
}

/** The registry that a program serves, with something measured for every metric. */
export function registryOf(program: Program): Registry {
  const registry = processRegistry()
  for (const measure of Object.values(measured[program])) measure(registry)
  return registry
}

/** The metrics of a program, by name. */
export async function metricsOf(program: Program): Promise<ReadonlyMap<string, Registered>> {
  const families = await registryOf(program).getMetricsAsJSON()
  return new Map(
    families.map(({ name, type, help, values }) => {
      const labels = new Set(values.flatMap((value) => Object.keys(value.labels)))
      const limits = new Set(values.flatMap(({ labels: { le } }) => (typeof le === 'number' ? [le] : [])))
      const isHistogram = labels.delete('le')
      return [
        name,
        { type: String(type), help, labels: [...labels], buckets: isHistogram ? [...limits] : undefined },
      ]
    }),
  )
}
