import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { queueMetrics } from './queue-metrics.ts'

const transactionMs = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
const planOperations = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** Metrics of the reconcile kernel. */
export function kernelMetrics(registry: Registry) {
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers })

  const transactions = counter('kube_ovn_transactions_total', 'OVSDB transactions by outcome.', ['outcome'])
  // Upstream's name, labels and buckets; its dashboards show it.
  const requestLatency = new Histogram({
    name: 'ovs_client_request_latency_milliseconds',
    help: 'Duration of an OVSDB transaction; code 0 is success.',
    labelNames: ['db', 'method', 'code'],
    buckets: transactionMs,
    registers,
  })
  const planSize = new Histogram({
    name: 'kube_ovn_plan_operations',
    help: 'Operations of a transaction.',
    buckets: planOperations,
    registers,
  })
  const rows = counter('kube_ovn_rows_total', 'Rows that were changed, by kind and outcome.', [
    'kind',
    'outcome',
  ])
  const patches = counter('kube_ovn_patches_total', 'Writes to the Kubernetes API by verb and outcome.', [
    'controller',
    'verb',
    'outcome',
  ])
  const heldOrphans = new Gauge({
    name: 'kube_ovn_orphans_held',
    help: 'Rows without an object whose deletion waits for confirmation, by kind.',
    labelNames: ['kind'],
    registers,
  })

  /** Kinds of which something is held. None is one of both databases. */
  const held: Record<'northbound' | 'southbound', Iterable<string>> = { northbound: [], southbound: [] }

  return {
    ...queueMetrics(registry),
    transacted(outcome: 'committed' | 'failed', operations: number, tookMs: number): void {
      transactions.inc({ outcome })
      const code = outcome === 'committed' ? '0' : '1'
      requestLatency.observe({ db: 'ovn-nb', method: 'reconcile', code }, tookMs)
      planSize.observe(operations)
    },
    rowChanged(kind: string, outcome: string): void {
      rows.inc({ kind, outcome })
    },
    patched(
      controller: string,
      verb: 'create' | 'apply' | 'patch' | 'delete',
      outcome: 'ok' | 'failed',
    ): void {
      patches.inc({ controller, verb, outcome })
    },
    orphansHeld(byKind: ReadonlyMap<string, number>, of: 'northbound' | 'southbound' = 'northbound'): void {
      for (const kind of held[of]) heldOrphans.remove({ kind })
      for (const [kind, count] of byKind) heldOrphans.set({ kind }, count)
      held[of] = [...byKind.keys()]
    },
  }
}

export type KernelMetrics = ReturnType<typeof kernelMetrics>
