import { expect, it } from 'vitest'
import { kernelMetrics, leaderMetrics, logMetrics, processRegistry, Registry } from './index.ts'

it('shows the queue under the names of controller-runtime', async () => {
  const registry = new Registry()
  const metrics = kernelMetrics(registry)
  metrics.observe({
    depth: () => new Map([['subnet', 3]]),
    working: () => new Map([['subnet', [1, 2.5]]]),
    concurrency: 50,
  })
  metrics.added('subnet')
  metrics.reconciled('subnet', 'error', 20)
  const text = await registry.metrics()
  expect(text).toContain('workqueue_depth{name="subnet",controller="subnet",priority=""} 3')
  expect(text).toContain('workqueue_adds_total{name="subnet",controller="subnet"} 1')
  expect(text).toContain('workqueue_unfinished_work_seconds{name="subnet",controller="subnet"} 3.5')
  expect(text).toContain('workqueue_longest_running_processor_seconds{name="subnet",controller="subnet"} 2.5')
  expect(text).toContain('controller_runtime_active_workers{controller="subnet"} 2')
  expect(text).toContain('controller_runtime_max_concurrent_reconciles{controller="subnet"} 50')
  expect(text).toContain('controller_runtime_reconcile_total{controller="subnet",result="error"} 1')
  expect(text).toContain('controller_runtime_reconcile_errors_total{controller="subnet"} 1')
})

it('counts rows by kind and forgets orphans that are no longer held', async () => {
  const registry = new Registry()
  const metrics = kernelMetrics(registry)
  metrics.rowChanged('lsp', 'inserted')
  metrics.transacted('committed', 3, 5)
  metrics.orphansHeld(new Map([['lsp', 60]]))
  metrics.orphansHeld(new Map([['chassis', 51]]), 'southbound')
  metrics.orphansHeld(new Map())
  expect(await registry.metrics()).toContain('kube_ovn_orphans_held{kind="chassis"} 51')
  metrics.orphansHeld(new Map(), 'southbound')
  const text = await registry.metrics()
  expect(text).toContain('kube_ovn_rows_total{kind="lsp",outcome="inserted"} 1')
  expect(text).not.toContain('kube_ovn_orphans_held{')
  expect(text).toContain(
    'ovs_client_request_latency_milliseconds_bucket{le="8",db="ovn-nb",method="reconcile",code="0"} 1',
  )
  expect(text).toContain('kube_ovn_plan_operations_sum 3')
})

it('keeps the registries of two processes apart', async () => {
  const [one, other] = [processRegistry(), processRegistry()]
  kernelMetrics(one)
  expect(await one.metrics()).toContain('process_resident_memory_bytes')
  expect(await one.metrics()).toContain('kube_ovn_event_loop_delay_seconds{quantile="0.99"}')
  expect(await other.metrics()).not.toContain('workqueue_depth')
})

it('counts log lines by the levels of klog', async () => {
  const registry = new Registry()
  const { wrote } = logMetrics(registry)
  wrote('error', 100)
  wrote('debug', 10)
  wrote('info', 10)
  const text = await registry.metrics()
  expect(text).toContain('klog_lines_total{level="ERROR"} 1')
  expect(text).toContain('klog_lines_total{level="INFO"} 2')
  expect(text).toContain('klog_bytes_total{level="INFO"} 20')
  expect(text).toContain('klog_lines_total{level="WARN"} 0')
})

it('shows at each scrape whether the process leads', async () => {
  const registry = new Registry()
  let isLeader = false
  leaderMetrics(registry, 'kube-ovn-controller', () => isLeader)
  expect(await registry.metrics()).toContain('leader_election_master_status{name="kube-ovn-controller"} 0')
  isLeader = true
  expect(await registry.metrics()).toContain('leader_election_master_status{name="kube-ovn-controller"} 1')
})
