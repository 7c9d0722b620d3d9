import { Counter, Histogram, type Registry } from 'prom-client'

/** Upstream's buckets: 1 ms, doubled nine times. */
const upstreamSeconds = Array.from({ length: 10 }, (_, n) => 0.001 * 2 ** n)

const partSeconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]

/** Where the time of an ADD went, milliseconds. */
export interface AddTimings {
  readonly agentMs: number
  readonly controllerWaitMs: number
  readonly ovnWaitMs: number
}

/** Metrics of the node agent. Those with `cni_` are upstream's, with upstream's labels. */
export interface AgentMetrics {
  answered(path: string, status: number, ms: number): void
  added(timings: AddTimings): void
  waitedForAddress(ms: number): void
  waitedForRoute(ms: number): void
  announceFailed(): void
}

export function agentMetrics(registry: Registry, nodeName: string): AgentMetrics {
  const registers = [registry]
  const latency = new Histogram({
    name: 'cni_op_latency_seconds',
    help: 'Duration of a request of the CNI plugin.',
    labelNames: ['node_name', 'method', 'status_code'],
    buckets: upstreamSeconds,
    registers,
  })
  const address = wait('cni_wait_address_seconds_total', 'Seconds that ADD waited for an address.')
  const route = wait('cni_wait_route_seconds_total', 'Seconds that ADD waited for the pod to be routed.')
  const connectivity = wait(
    'cni_wait_connectivity_seconds_total',
    'Seconds that ADD waited for flows, and for a gateway on a physical network.',
  )
  const parts = new Histogram({
    name: 'kube_ovn_cni_add_seconds',
    help: 'Where the time of a successful ADD went: agent, controller or ovn.',
    labelNames: ['part'],
    buckets: partSeconds,
    registers,
  })
  const unannounced = new Counter({
    name: 'kube_ovn_cni_announce_failures_total',
    help: 'Times that addresses of a pod or of the node were not announced to their neighbours.',
    registers,
  })

  function wait(name: string, help: string): (ms: number) => void {
    const counter = new Counter({ name, help, labelNames: ['node_name'], registers })
    counter.inc({ node_name: nodeName }, 0)
    return (ms) => counter.inc({ node_name: nodeName }, ms / 1000)
  }

  return {
    answered(path, status, ms) {
      latency.observe({ node_name: nodeName, method: path, status_code: String(status) }, ms / 1000)
    },
    added({ agentMs, controllerWaitMs, ovnWaitMs }) {
      parts.observe({ part: 'agent' }, agentMs / 1000)
      parts.observe({ part: 'controller' }, controllerWaitMs / 1000)
      parts.observe({ part: 'ovn' }, ovnWaitMs / 1000)
      connectivity(ovnWaitMs)
    },
    waitedForAddress: address,
    waitedForRoute: route,
    announceFailed: () => unannounced.inc(),
  }
}
